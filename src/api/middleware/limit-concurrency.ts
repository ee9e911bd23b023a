type Turns = { running: number; waiting: (() => void)[] }

/**
 * Creates a function that runs at most `atOnce` tasks of each name at a time, and the others in the
 * order of the calls, so that a client with a hundred long searches does not delay other clients.
 */
export function limitConcurrency(atOnce = 1) {
  const names = new Map<string, Turns>()

  return async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turns = names.get(name) ?? { running: 0, waiting: [] }
    names.set(name, turns)
    if (turns.running < atOnce) turns.running++
    else await new Promise<void>((begin) => turns.waiting.push(begin))
    try {
      return await work()
    } finally {
      // The next task takes this one's place.
      const next = turns.waiting.shift()
      if (next) next()
      else if (--turns.running === 0) names.delete(name)
    }
  }
}
