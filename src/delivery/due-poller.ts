import type { Db } from '../storage/database/db.ts'
import {
  correctDueTimes,
  type DueEndpoint,
  findDueEndpoints,
  MAX_DUE_ENDPOINTS,
  shiftDueTimes,
} from '../storage/deliveries/deliveries.ts'
import type { Clock } from './system-clock.ts'

/** The database is polled at least this often: CLI commands change it while the server runs. */
export const MAX_PAUSE_MS = 60_000
/** What is due later is found by a later poll, though possibly a little late. */
const HORIZON_MS = 2 * MAX_PAUSE_MS
/**
 * A poll visits every endpoint that has something due. With very many of them, polling takes at
 * most a tenth of the time.
 */
const SHARE = 0.1
/** A poll may have taken long only because of other queries. */
const MAX_COOLDOWN_MS = 5000
/** Pause after the database refused a query. */
const ERROR_PAUSE_MS = 1000
/**
 * More than the longest delay with its jitter: what is further ahead was queued by another clock.
 */
const FAR_AHEAD_MS = 24 * 3_600_000

/** The dependencies of a poller. `onReady` is called when it may poll again and was asked to. */
export type DuePollerOptions = { db: Db; clock: Clock; onReady: () => void }

/** Polls for endpoints that have something due: on request, and at least once a minute. */
export class DuePoller {
  readonly #options: DuePollerOptions
  #isWanted = true
  /** By the adjustable clock. */
  #polledAt = Number.NEGATIVE_INFINITY
  /**
   * The last reading of the clock. Undefined at first: how the clock changed while no server ran is
   * unknown.
   */
  #lastReadingAt: number | undefined
  /** Whether more may be due than the last poll returned. */
  #isMore = false
  #isPolling = false
  /** Set while a poll would come too soon after the last one. */
  #cooldown: NodeJS.Timeout | undefined

  constructor(options: DuePollerOptions) {
    this.#options = options
  }

  /**
   * Requests a poll because something may have been queued. Returns whether it can be made now;
   * otherwise `onReady` follows.
   */
  requestPoll(): boolean {
    this.#isWanted = true
    return !this.#isBusy
  }

  /** Notes that an endpoint had its turn: others may take its place. */
  noteServed(): void {
    if (this.#isMore) this.#isWanted = true
  }

  /**
   * Returns the endpoints that have something due, now or soon. Returns none if it is too early to
   * poll or a poll is running.
   */
  async poll(): Promise<DueEndpoint[]> {
    const { db, clock } = this.#options
    const now = clock.now()
    const isTurnedBack = now < (this.#lastReadingAt ?? Number.POSITIVE_INFINITY)
    if (isTurnedBack || now >= this.#polledAt + MAX_PAUSE_MS) this.#isWanted = true
    // A clock that was turned back counts as such until the waiting deliveries are corrected.
    if (!isTurnedBack) this.#lastReadingAt = now
    if (this.#isBusy || !this.#isWanted) return []
    this.#isWanted = false
    this.#isPolling = true
    let cooldownMs = ERROR_PAUSE_MS
    try {
      if (isTurnedBack) await this.#correctDueTimes(now)
      const startedAt = performance.now()
      const due = await findDueEndpoints(db, { until: now + HORIZON_MS })
      this.#polledAt = now
      this.#isMore = due.length >= MAX_DUE_ENDPOINTS
      cooldownMs = Math.min(MAX_COOLDOWN_MS, (performance.now() - startedAt) / SHARE)
      return due
    } catch (error) {
      this.#isWanted = true
      throw error
    } finally {
      this.#isPolling = false
      this.#coolDown(cooldownMs)
    }
  }

  close(): void {
    clearTimeout(this.#cooldown)
  }

  /** Whether a poll is running, or would come too soon after the last one. */
  get #isBusy(): boolean {
    return this.#isPolling || this.#cooldown !== undefined
  }

  async #correctDueTimes(now: number): Promise<void> {
    const { db } = this.#options
    if (this.#lastReadingAt === undefined)
      await correctDueTimes(db, { now, latest: now + FAR_AHEAD_MS })
    else await shiftDueTimes(db, { now, by: this.#lastReadingAt - now })
    this.#lastReadingAt = now
  }

  #coolDown(ms: number): void {
    this.#cooldown = setTimeout(() => {
      this.#cooldown = undefined
      if (this.#isWanted) this.#options.onReady()
    }, ms)
  }
}
