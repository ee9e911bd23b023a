/**
 * The bounds of the wait: a shorter one would request a busy receiver in a tight loop, and a
 * receiver may not request a longer one.
 */
const MIN_MS = 1000
const MAX_MS = 3_600_000

/**
 * Returns the milliseconds that a `Retry-After` header asks to wait (RFC 9110, 10.2.3: seconds or a
 * date), from a second to an hour; undefined if it asks for nothing valid.
 */
export function parseRetryAfter(
  text: string | undefined,
  { now }: { now: number },
): number | undefined {
  if (text === undefined) return undefined
  const value = text.trim()
  // `Date.parse` accepts nearly anything as a date; only a value that names a day or a month is
  // one.
  const ms = /^\d+$/.test(value)
    ? Number(value) * 1000
    : /^[A-Za-z]{3}/.test(value)
      ? Date.parse(value) - now
      : Number.NaN
  return Number.isNaN(ms) ? undefined : Math.min(MAX_MS, Math.max(MIN_MS, ms))
}
