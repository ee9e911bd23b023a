/**
 * Creates a function that runs the work of each name one after another, so that a client with a
 * hundred long searches does not delay the others.
 */
export function serializeByKey() {
  /** The last work of each name that has some running. */
  const last = new Map<string, Promise<unknown>>()
  return async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = last.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    last.set(name, mine)
    try {
      return await mine
    } finally {
      if (last.get(name) === mine) last.delete(name)
    }
  }
}
