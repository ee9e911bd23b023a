/** One bucket of a cumulative histogram: how many observations are at most `bound`. */
export type HistogramBucket = { bound: number; count: number }

/**
 * Returns a quantile of a histogram, by linear interpolation as in Prometheus; undefined without
 * observations. A quantile in the last bucket, which has no bound, is the bound of the bucket
 * before it.
 */
export function quantileOf(
  buckets: readonly HistogramBucket[],
  quantile: number,
): number | undefined {
  const ordered = [...buckets].sort((a, b) => a.bound - b.bound)
  const total = ordered.at(-1)?.count ?? 0
  if (total <= 0) return undefined
  const rank = quantile * total
  const index = ordered.findIndex(({ count }) => count >= rank)
  const lowerBucket = ordered[index - 1] ?? { bound: 0, count: 0 }
  const { bound, count } = ordered[index]!
  if (!Number.isFinite(bound)) return lowerBucket.bound
  return (
    lowerBucket.bound +
    ((bound - lowerBucket.bound) * (rank - lowerBucket.count)) / (count - lowerBucket.count)
  )
}

/** Returns the counts of the buckets since `previous`. */
export function bucketsSince(
  current: readonly HistogramBucket[],
  previous: readonly HistogramBucket[],
): HistogramBucket[] {
  const previousCounts = new Map(previous.map(({ bound, count }) => [bound, count]))
  return current.map(({ bound, count }) => ({
    bound,
    count: count - (previousCounts.get(bound) ?? 0),
  }))
}
