/** A waiting account and its priority; the lowest rank comes first. */
export type ThreadClaim = { account: string; rank: number }

/**
 * An account that used more than this in about the last second waits for accounts that used less,
 * in milliseconds.
 */
const FAIR_SHARE_MS = 250
/** Milliseconds in which an account's usage decays by two thirds. */
const DECAY_MS = 1000
/** Milliseconds after which usage is forgotten. */
const USAGE_LIFETIME_MS = 10 * DECAY_MS

type Use = { ms: number; at: number }

/**
 * A queue of the claims of accounts on one thread. Accounts that recently used more than their
 * share come last; then the lowest rank comes first; among equals, the account whose last turn is
 * longest ago. An account with much work waits for itself, and others wait for at most one of its
 * tasks.
 */
export class ThreadScheduler<T extends ThreadClaim> {
  /** By account, in the order of arrival, then by rank. */
  readonly #waiting = new Map<string, T[][]>()
  /** The number of the last turn of each waiting account. */
  readonly #served = new Map<string, number>()
  readonly #used = new Map<string, Use>()
  #turn = 0
  readonly #now: () => number

  /** `now` is in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  add(claim: T): void {
    const ranks = this.#waiting.get(claim.account) ?? []
    this.#waiting.set(claim.account, ranks)
    ranks[claim.rank] ??= []
    ranks[claim.rank]!.push(claim)
  }

  /** Removes a claim that no longer waits. */
  remove(claim: T): void {
    const row = this.#waiting.get(claim.account)?.[claim.rank]
    const place = row?.indexOf(claim) ?? -1
    if (place < 0) return
    row!.splice(place, 1)
    this.#dropIfEmpty(claim.account)
  }

  /** Removes and returns an account's claims for which `isGone` holds. */
  removeAll(account: string, isGone: (claim: T) => boolean): T[] {
    const gone = (this.#waiting.get(account) ?? []).flat().filter(isGone)
    for (const claim of gone) this.remove(claim)
    return gone
  }

  /** Removes and returns the next claim; undefined if none waits. */
  take(): T | undefined {
    let best: { account: string; key: number; served: number } | undefined
    for (const [account, ranks] of this.#waiting) {
      const rank = firstRank(ranks)
      const key = this.#usedBy(account) > FAIR_SHARE_MS ? OVER_SHARE_PENALTY + rank : rank
      const served = this.#served.get(account) ?? 0
      const isBefore = !best || key < best.key || (key === best.key && served < best.served)
      if (isBefore) best = { account, key, served }
    }
    if (!best) return undefined
    const { account } = best
    const ranks = this.#waiting.get(account)!
    const claim = ranks[firstRank(ranks)]!.shift()!
    this.#served.set(account, ++this.#turn)
    this.#dropIfEmpty(account)
    return claim
  }

  /** Charges an account `ms` milliseconds of work. */
  charge(account: string, ms: number): void {
    this.#used.set(account, { ms: this.#usedBy(account) + ms, at: this.#now() })
    for (const [name, { at }] of this.#used) {
      if (this.#now() - at > USAGE_LIFETIME_MS) this.#used.delete(name)
    }
  }

  /** Removes and returns all waiting claims. */
  clear(): T[] {
    const all = [...this.#waiting.values()].flat(2)
    this.#waiting.clear()
    this.#served.clear()
    return all
  }

  #usedBy(account: string): number {
    const use = this.#used.get(account)
    return use ? use.ms * Math.exp((use.at - this.#now()) / DECAY_MS) : 0
  }

  #dropIfEmpty(account: string): void {
    if (!this.#waiting.get(account)?.every((row) => row.length === 0)) return
    this.#waiting.delete(account)
    this.#served.delete(account)
  }
}

/** Greater than every rank. */
const OVER_SHARE_PENALTY = 100

function firstRank(ranks: readonly (readonly unknown[])[]): number {
  return ranks.findIndex((row) => row !== undefined && row.length > 0)
}
