/**
 * A partial waits at most so long, in milliseconds: a machine whose cores are never free still
 * shows text.
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
 * Creates a limiter for so many cores. More tasks at once than cores slow each other down, and a
 * further partial is the least urgent.
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
      const waited = new AbortController()
      const timer = setTimeout(() => waited.abort(), MAX_WAIT_MS)
      const enough = AbortSignal.any([signal, waited.signal])
      const gaveUp = new Promise<void>((resolve) => {
        enough.addEventListener('abort', () => resolve(), { once: true })
      })
      while (running >= cores && !enough.aborted) await Promise.race([freed.promise, gaveUp])
      clearTimeout(timer)
      return during(start())
    },
  }
}
