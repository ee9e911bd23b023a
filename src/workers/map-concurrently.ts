/** Maximum concurrent tasks, and the signal that stops them all. */
export type ParallelOptions = { limit: number; signal: AbortSignal }

/**
 * Runs `work` for each item, `limit` at a time, and returns the results in the order of the items.
 * The first failure aborts the signal of the others and is thrown once all of them have ended.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T, signal: AbortSignal) => Promise<R>,
  { limit, signal }: ParallelOptions,
): Promise<R[]> {
  const failure = new AbortController()
  const joint = AbortSignal.any([signal, failure.signal])
  const results: R[] = []
  let next = 0

  async function takeItems(): Promise<void> {
    while (next < items.length && !joint.aborted) {
      const index = next++
      results[index] = await work(items[index]!, joint)
    }
  }

  const takers = Array.from({ length: Math.min(limit, items.length) }, () =>
    takeItems().catch((error) => failure.abort(error)),
  )
  await Promise.all(takers)
  joint.throwIfAborted()
  return results
}
