/** Runs work, at most so many at a time; the rest waits in order, and stops waiting when aborted. */
export type Gate = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** Makes a gate that lets `limit` pieces of work run at a time. */
export function createGate(limit: number): Gate {
  let running = 0
  const waiting: (() => void)[] = []

  function enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (running < limit) {
      running++
      return Promise.resolve()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const turn = () => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = () => {
      waiting.splice(waiting.indexOf(turn), 1)
      reject(signal.reason)
    }
    waiting.push(turn)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise
  }

  /** The place goes to the next in line; it is free only when nobody waits. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return async (work, signal) => {
    await enter(signal)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
