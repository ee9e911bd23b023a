/**
 * The longest wait of a partial, in milliseconds: a machine whose cores are never free still shows
 * text.
 */
const MAX_WAIT_MS = 1000

/** Delays further partials of an utterance while finals and other partials take all cores. */
export type PartialLimiter = {
  /** Counts a final as running until it settles. */
  during<T>(final: Promise<T>): Promise<T>
  /**
   * Starts a partial when a core is free, or when it has waited long enough or `signal` aborts, and
   * counts it as running until it settles.
   */
  whenFree<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T>
}

/**
 * Creates a limiter for `cores`. More tasks at once than cores slow each other down, and a further
 * partial is the least urgent.
 */
export function createPartialLimiter(cores: number): PartialLimiter {
  let running = 0
  let freed = Promise.withResolvers<void>()

  async function during<T>(task: Promise<T>): Promise<T> {
    running++
    try {
      return await task
    } finally {
      running--
      freed.resolve()
      freed = Promise.withResolvers()
    }
  }

  return {
    during,
    async whenFree(start, signal) {
      const maxWait = new AbortController()
      const timer = setTimeout(() => maxWait.abort(), MAX_WAIT_MS)
      const waitLimit = AbortSignal.any([signal, maxWait.signal])
      const limitReached = new Promise<void>((resolve) => {
        waitLimit.addEventListener('abort', () => resolve(), { once: true })
      })
      while (running >= cores && !waitLimit.aborted)
        await Promise.race([freed.promise, limitReached])
      clearTimeout(timer)
      return during(start())
    },
  }
}
