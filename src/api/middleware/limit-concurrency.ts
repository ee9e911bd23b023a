type TaskQueue = { running: number; waiting: (() => void)[] }

/**
 * Creates a function that runs at most `limit` tasks of each key at a time, in the order of the
 * calls, so that a client with a hundred long searches does not delay other clients.
 */
export function limitConcurrency(limit = 1) {
  const queues = new Map<string, TaskQueue>()

  return async function runInTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < limit) queue.running++
    else await new Promise<void>((begin) => queue.waiting.push(begin))
    try {
      return await work()
    } finally {
      // The next task takes this one's place.
      const next = queue.waiting.shift()
      if (next) next()
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}
