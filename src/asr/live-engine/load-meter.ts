/** Seconds over which the load is averaged: a few utterances of several sessions. */
const MEMORY_SECONDS = 3

/** Measures how much work runs or waits. */
export type LoadMeter = {
  /** The average of the last seconds, in cores. */
  readonly load: number
  /**
   * Counts a task as work until it has ended, unless it has low priority: other tasks do not wait
   * for it.
   */
  during<T>(task: Promise<T>, options?: { isLowPriority?: boolean }): Promise<T>
}

/** Creates a load meter for `cores`. `now` counts milliseconds and never goes back. */
export function createLoadMeter(cores: number, now = () => performance.now()): LoadMeter {
  let tasks = 0
  let average = 0
  let at = now()

  /** Updates the average; the number of tasks has not changed since the last update. */
  function advance(): void {
    const remainingShare = Math.exp((at - now()) / 1000 / MEMORY_SECONDS)
    average = average * remainingShare + tasks * (1 - remainingShare)
    at = now()
  }

  return {
    get load() {
      advance()
      return average / cores
    },
    async during(task, { isLowPriority = false } = {}) {
      if (isLowPriority) return task
      advance()
      tasks++
      try {
        return await task
      } finally {
        advance()
        tasks--
      }
    },
  }
}
