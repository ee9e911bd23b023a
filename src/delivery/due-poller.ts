import { DAY_MS } from '../clock.ts'
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
/**
 * How far ahead a poll looks: a later poll finds what is due after that, possibly a little late.
 */
const HORIZON_MS = 2 * MAX_PAUSE_MS
/**
 * The share of the time that polling may take: a poll visits every endpoint with due deliveries,
 * which may be many.
 */
const MAX_POLLING_SHARE = 0.1
/** Maximum pause after a slow poll, which may have been slow because of other queries. */
const MAX_COOLDOWN_MS = 5000
/** Pause after the database refused a query. */
const ERROR_PAUSE_MS = 1000
/**
 * More than the longest retry delay with its jitter: a due time further ahead is from a clock that
 * was wrong.
 */
const FAR_AHEAD_MS = DAY_MS

/** The dependencies of a poller. `onReady` is called when a requested poll becomes possible. */
export type DuePollerOptions = { db: Db; clock: Clock; onReady: () => void }

/** Polls for endpoints with due deliveries, on request and at least once a minute. */
export class DuePoller {
  readonly #options: DuePollerOptions
  #isRequested = true
  /** The time of the last poll, on the system clock, which may be adjusted. */
  #polledAt = Number.NEGATIVE_INFINITY
  /**
   * The last reading of the clock. Undefined at first: how the clock changed while no server ran is
   * unknown.
   */
  #lastReadingAt: number | undefined
  /** Whether more endpoints may be due than the last poll returned. */
  #hasMore = false
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
    this.#isRequested = true
    return !this.#isBusy
  }

  /** Reports that an endpoint was served, so that others may take its place. */
  endpointServed(): void {
    if (this.#hasMore) this.#isRequested = true
  }

  /**
   * Returns the endpoints with deliveries that are due now or soon; none if it is too early to poll
   * or a poll is running.
   */
  async poll(): Promise<DueEndpoint[]> {
    const { db, clock } = this.#options
    const now = clock.now()
    const isTurnedBack = now < (this.#lastReadingAt ?? Number.POSITIVE_INFINITY)
    if (isTurnedBack || now >= this.#polledAt + MAX_PAUSE_MS) this.#isRequested = true
    // The last reading is kept until the due times of waiting deliveries are corrected.
    if (!isTurnedBack) this.#lastReadingAt = now
    if (this.#isBusy || !this.#isRequested) return []
    this.#isRequested = false
    this.#isPolling = true
    let cooldownMs = ERROR_PAUSE_MS
    try {
      if (isTurnedBack) await this.#correctDueTimes(now)
      const startedAt = performance.now()
      const due = await findDueEndpoints(db, { until: now + HORIZON_MS })
      this.#polledAt = now
      this.#hasMore = due.length >= MAX_DUE_ENDPOINTS
      cooldownMs = Math.min(MAX_COOLDOWN_MS, (performance.now() - startedAt) / MAX_POLLING_SHARE)
      return due
    } catch (error) {
      this.#isRequested = true
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
      if (this.#isRequested) this.#options.onReady()
    }, ms)
  }
}
