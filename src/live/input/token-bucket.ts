/**
 * A rate limit: `perSecond` units per second, and up to `burst` units at once after a pause. `now`
 * returns milliseconds and never goes back.
 */
export type TokenBucketOptions = { perSecond: number; burst: number; now?: () => number }

/** A bucket of `burst` units that fills up by `perSecond`. */
export class TokenBucket {
  readonly #options: Required<TokenBucketOptions>
  #level: number
  #at: number

  constructor({ now = () => performance.now(), ...options }: TokenBucketOptions) {
    this.#options = { now, ...options }
    this.#level = options.burst
    this.#at = now()
  }

  /** Takes `cost` units; returns false, and takes nothing, when there are fewer. */
  take(cost = 1): boolean {
    this.#refill()
    if (this.#level < cost) return false
    this.#level -= cost
    return true
  }

  /** Returns units that were taken but not used. */
  giveBack(cost: number): void {
    this.#level += cost
  }

  /** Whether the bucket is full. A full bucket can be replaced by a new one without loss. */
  get isFull(): boolean {
    this.#refill()
    return this.#level >= this.#options.burst
  }

  #refill(): void {
    const { perSecond, burst, now } = this.#options
    const at = now()
    this.#level = Math.min(burst, this.#level + ((at - this.#at) / 1000) * perSecond)
    this.#at = at
  }
}
