import { TokenBucket } from '../input/token-bucket.ts'

/**
 * Rate limits of connections: each connection reads back the last bytes that its session received.
 * A client on a bad network reconnects about once a second, some hundred times in a row; one that
 * reconnects without a pause only causes load.
 */
const SESSION_RATE = { perSecond: 0.5, burst: 100 }
const ACCOUNT_RATE = { perSecond: 5, burst: 500 }
/** With more entries than this, those with full credit are dropped. */
const MAX_ENTRIES = 1000

/** Limits how often clients connect, by session and account. */
export class ReconnectLimit {
  readonly #now: (() => number) | undefined
  readonly #credits = new Map<string, TokenBucket>()

  constructor({ now }: { now?: () => number } = {}) {
    this.#now = now
  }

  /** Returns whether one more client may connect; counts it if so. */
  take({ id, account }: { id: string; account: string }): boolean {
    if (this.#credits.size > MAX_ENTRIES) this.#evict()
    const session = this.#creditOf(`session ${id}`, SESSION_RATE)
    return session.take() && this.#creditOf(`account ${account}`, ACCOUNT_RATE).take()
  }

  #creditOf(name: string, rate: { perSecond: number; burst: number }): TokenBucket {
    const credit =
      this.#credits.get(name) ?? new TokenBucket({ ...rate, ...(this.#now && { now: this.#now }) })
    this.#credits.set(name, credit)
    return credit
  }

  #evict(): void {
    for (const [name, credit] of this.#credits) if (credit.isFull) this.#credits.delete(name)
  }
}
