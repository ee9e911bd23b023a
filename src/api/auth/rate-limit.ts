import type { Rate } from '../../env-reader.ts'
import { AppError } from '../../errors.ts'

/** Takes a token from the bucket of a key; throws `rate_limited` when there is none. */
export type TakeToken = (key: string) => void

/** So many keys or addresses are kept; beyond, those that came first are forgotten. */
const MAX_BUCKETS = 10_000
/** Moments are sums of fractions: what is early by this little is not early. */
const ROUNDING_MS = 0.01

/** `of` names in messages what is limited. */
export type RateLimitOptions = {
  now?: () => number
  fullAt?: Map<string, number>
  of?: string
}

/**
 * A bucket of `burst` tokens for each key, into which `perMinute` drop each minute. Of a bucket only
 * the moment is kept at which it will be full; full ones are forgotten, so what is kept are the keys
 * of the last moments. `now` counts milliseconds and never goes back.
 */
export function createRateLimit(
  { perMinute, burst }: Rate,
  {
    now = () => performance.now(),
    fullAt = new Map<string, number>(),
    of = 'with one key',
  }: RateLimitOptions = {},
): TakeToken {
  const perToken = 60_000 / perMinute
  let forgetAt = 0

  function forgetFullBuckets(at: number): void {
    if (at < forgetAt) return
    for (const [key, full] of fullAt) if (full <= at) fullAt.delete(key)
    forgetAt = at + burst * perToken
  }

  return (key) => {
    const at = now()
    forgetFullBuckets(at)
    const full = Math.max(fullAt.get(key) ?? at, at) + perToken
    const wait = full - (at + burst * perToken)
    if (wait > ROUNDING_MS) {
      const detail = `${perMinute} a minute ${of}, ${burst} at once`
      throw new AppError('rate_limited', detail, { retryAfter: Math.ceil(wait / 1000) })
    }
    fullAt.delete(key)
    fullAt.set(key, full)
    if (fullAt.size > MAX_BUCKETS) fullAt.delete(fullAt.keys().next().value!)
  }
}
