/**
 * How many recordings the server has at one time: while it recognizes one, the next ones are
 * already there.
 */
const AHEAD = 4
/**
 * How many it has as long as they are small, and how many bytes they have together: the server
 * recognizes short recordings together.
 */
const SMALL_AHEAD = 24
const SMALL_BYTES = 12 * 1024 * 1024

/** What is done with each item, and its size in bytes. */
export type AheadOptions<T, R> = { work(item: T): Promise<R>; bytesOf(item: T): number }

/** Runs `work` over all items, some ahead of the one that is awaited. Outcomes come in order. */
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
