import type { Rate } from '../env-reader.ts'
import { AppError } from '../errors.ts'

/** Takes a token from the bucket of a key; throws `rate_limited` when there is none. */
export type TakeToken = (key: string) => void

/** Moments are sums of fractions: what is early by this little is not early. */
const ROUNDING_MS = 0.01

/**
 * A bucket of `burst` tokens for each key, into which `perMinute` drop each minute. Of a bucket only
 * the moment is kept at which it will be full; full ones are forgotten, so what is kept are the keys
 * of the last moments. `now` counts milliseconds and never goes back.
 */
export function createRateLimit(
  { perMinute, burst }: Rate,
  { now = () => performance.now(), fullAt = new Map<string, number>() } = {},
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
      const detail = `${perMinute} a minute with one key, ${burst} at once`
      throw new AppError('rate_limited', detail, { retryAfter: Math.ceil(wait / 1000) })
    }
    fullAt.set(key, full)
  }
}
