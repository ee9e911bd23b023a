/**
 * How many recordings are sent ahead: while the server recognizes one, it already has the next
 * ones.
 */
const AHEAD = 4
/**
 * How many small recordings are sent ahead, and their maximum total size: the server recognizes
 * short recordings in batches.
 */
const SMALL_AHEAD = 24
const SMALL_BYTES = 12 * 1024 * 1024

/** The work on an item, and the size of the item in bytes. */
export type AheadOptions<T, R> = { work(item: T): Promise<R>; bytesOf(item: T): number }

/** Runs `work` on all items, several at a time, and yields the outcomes in order. */
export async function* runAhead<T, R>(
  items: readonly T[],
  { work, bytesOf }: AheadOptions<T, R>,
): AsyncGenerator<PromiseSettledResult<R>> {
  const running: { outcome: Promise<PromiseSettledResult<R>>; bytes: number }[] = []
  for (const item of items) {
    while (isFull(running)) yield await running.shift()!.outcome
    const outcome = Promise.allSettled([work(item)]).then(([outcome]) => outcome!)
    running.push({ outcome, bytes: bytesOf(item) })
  }
  for (const { outcome } of running) yield await outcome
}

function isFull(running: readonly { bytes: number }[]): boolean {
  if (running.length < AHEAD) return false
  const bytes = running.reduce((sum, runningItem) => sum + runningItem.bytes, 0)
  return running.length >= SMALL_AHEAD || bytes > SMALL_BYTES
}
