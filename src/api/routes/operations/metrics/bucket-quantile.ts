/** How many observations are at most `bound`: one bucket of a cumulative histogram. */
export type HistogramBucket = { bound: number; count: number }

/**
 * Returns a quantile of what buckets counted, by linear interpolation as Prometheus does it;
 * undefined without observations. One in the last bucket, which has no bound, counts as the bound
 * before it.
 */
export function quantileOf(
  buckets: readonly HistogramBucket[],
  quantile: number,
): number | undefined {
  const ordered = [...buckets].sort((one, other) => one.bound - other.bound)
  const total = ordered.at(-1)?.count ?? 0
  if (total <= 0) return undefined
  const rank = quantile * total
  const at = ordered.findIndex(({ count }) => count >= rank)
  const below = ordered[at - 1] ?? { bound: 0, count: 0 }
  const { bound, count } = ordered[at]!
  if (!Number.isFinite(bound)) return below.bound
  return below.bound + ((bound - below.bound) * (rank - below.count)) / (count - below.count)
}

/** Returns what the buckets counted since `before`. */
export function bucketsSince(
  now: readonly HistogramBucket[],
  before: readonly HistogramBucket[],
): HistogramBucket[] {
  const earlier = new Map(before.map(({ bound, count }) => [bound, count]))
  return now.map(({ bound, count }) => ({ bound, count: count - (earlier.get(bound) ?? 0) }))
}
