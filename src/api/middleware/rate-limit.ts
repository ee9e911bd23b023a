import type { Rate } from '../../config/env-reader.ts'
import { AppError } from '../../errors.ts'

/** Takes a token from the bucket of a key; throws `rate_limited` when there is none. */
export type TakeToken = (key: string) => void

/** Maximum number of keys or addresses; beyond it, the oldest are dropped. */
const MAX_BUCKETS = 10_000
/** Times are sums of rounded fractions, so a request may come this much too early. */
const ROUNDING_MS = 0.01

/**
 * `subject` states in messages what is limited, and `setting` is the variable that sets the limit.
 */
export type RateLimitOptions = {
  now?: () => number
  fullAt?: Map<string, number>
  subject?: string
  setting?: string
}

/**
 * Creates a bucket of `burst` tokens for each key, refilled with `perMinute` tokens a minute. Only
 * the time at which a bucket will be full is stored; full ones are dropped, so only recently used
 * keys remain. `now` counts milliseconds and never goes back.
 */
export function createRateLimit(
  { perMinute, burst }: Rate,
  {
    now = () => performance.now(),
    fullAt = new Map<string, number>(),
    subject = 'with one key',
    setting = 'STENO_RATE_LIMIT',
  }: RateLimitOptions = {},
): TakeToken {
  const msPerToken = 60_000 / perMinute
  let nextCleanupAt = 0

  function deleteFullBuckets(at: number): void {
    if (at < nextCleanupAt) return
    for (const [key, fullTime] of fullAt) if (fullTime <= at) fullAt.delete(key)
    nextCleanupAt = at + burst * msPerToken
  }

  return (key) => {
    const at = now()
    deleteFullBuckets(at)
    const fullTime = Math.max(fullAt.get(key) ?? at, at) + msPerToken
    const waitMs = fullTime - (at + burst * msPerToken)
    if (waitMs > ROUNDING_MS) {
      const detail = `${perMinute} a minute ${subject}, ${burst} at once (${setting})`
      throw new AppError('rate_limited', detail, { retryAfter: Math.ceil(waitMs / 1000) })
    }
    fullAt.delete(key)
    fullAt.set(key, fullTime)
    if (fullAt.size > MAX_BUCKETS) fullAt.delete(fullAt.keys().next().value!)
  }
}
