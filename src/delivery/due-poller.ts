import type { Db } from '../storage/db.ts'
import {
  bringForward,
  correctMoments,
  type DueEndpoint,
  findDueEndpoints,
  MAX_DUE_ENDPOINTS,
} from '../storage/deliveries/deliveries.ts'
import type { Clock } from './clock.ts'

/** The database is looked at this often at the latest: commands change it beside the server. */
export const MAX_PAUSE_MS = 60_000
/** What is due later is found by a later look, though that may come a little late. */
const HORIZON_MS = 2 * MAX_PAUSE_MS
/** A look visits every endpoint that has something due: with very many it is done a tenth of the time at most. */
const SHARE = 0.1
/** It may have taken long because others searched. */
const MAX_REST_MS = 5000
/** Pause after the database refused to tell. */
const ERROR_PAUSE_MS = 1000
/** More than the longest delay with its jitter: what is further ahead was queued by another clock. */
const FAR_AHEAD_MS = 24 * 3_600_000

/** What a lookout needs; `onRested` is called when it could look again and was asked to. */
export type DuePollerOptions = { db: Db; clock: Clock; onRested: () => void }

/** Looks for endpoints that have something due, when it was asked to, and once a minute at the latest. */
export class DuePoller {
  readonly #options: DuePollerOptions
  #isWanted = true
  /** By the clock that may be set. */
  #lookedAt = Number.NEGATIVE_INFINITY
  /** What the clock said last; in the beginning what it did while no server ran is unknown. */
  #seenAt: number | undefined
  /** Whether more may be due than the last look handed over. */
  #isMore = false
  #isLooking = false
  /** Set while a look would come too soon after the last one. */
  #rest: NodeJS.Timeout | undefined

  constructor(options: DuePollerOptions) {
    this.#options = options
  }

  /** Something may have been queued. */
  want(): void {
    this.#isWanted = true
  }

  /** An endpoint had its turn: others may come in its place. */
  noteServed(): void {
    if (this.#isMore) this.#isWanted = true
  }

  /** The endpoints that have something due, now or soon; none when it is not time to look, or is being done. */
  async look(): Promise<DueEndpoint[]> {
    const { db, clock } = this.#options
    const now = clock.now()
    const isTurnedBack = now < (this.#seenAt ?? Number.POSITIVE_INFINITY)
    if (isTurnedBack || now >= this.#lookedAt + MAX_PAUSE_MS) this.#isWanted = true
    // A clock that was turned back is seen as such until what waits was corrected.
    if (!isTurnedBack) this.#seenAt = now
    if (this.#isLooking || this.#rest || !this.#isWanted) return []
    this.#isWanted = false
    this.#isLooking = true
    let restMs = ERROR_PAUSE_MS
    try {
      if (isTurnedBack) await this.#correctMoments(now)
      const startedAt = performance.now()
      const due = await findDueEndpoints(db, { until: now + HORIZON_MS })
      this.#lookedAt = now
      this.#isMore = due.length >= MAX_DUE_ENDPOINTS
      restMs = Math.min(MAX_REST_MS, (performance.now() - startedAt) / SHARE)
      return due
    } catch (error) {
      this.#isWanted = true
      throw error
    } finally {
      this.#isLooking = false
      this.#restFor(restMs)
    }
  }

  close(): void {
    clearTimeout(this.#rest)
  }

  async #correctMoments(now: number): Promise<void> {
    const { db } = this.#options
    if (this.#seenAt === undefined) await correctMoments(db, { now, latest: now + FAR_AHEAD_MS })
    else await bringForward(db, { now, by: this.#seenAt - now })
    this.#seenAt = now
  }

  #restFor(ms: number): void {
    this.#rest = setTimeout(() => {
      this.#rest = undefined
      if (this.#isWanted) this.#options.onRested()
    }, ms)
  }
}
