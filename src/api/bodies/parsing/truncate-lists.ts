/**
 * How many entries of a list are kept. Decisions need no more: a vocabulary of 500 entries is
 * already large.
 */
const MAX_KEPT = 1000

/** Returns a copy of a JSON value with only the first entries of its long lists and maps. */
export function truncateLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.slice(0, MAX_KEPT).map(truncateLists)
  const entries = Object.entries(value).slice(0, MAX_KEPT)
  return Object.fromEntries(entries.map(([key, item]) => [key, truncateLists(item)]))
}
