import type { Log } from '../log.ts'
import type { Db } from '../storage/db.ts'
import { type Settlement, settleDeliveries } from '../storage/deliveries/deliveries.ts'
import type { Clock } from './clock.ts'

/** This many settlements keep other writers waiting for some milliseconds. */
const MAX_TOGETHER = 50
/** Pause after the database refused: a full disk or a lock of another process is temporary. */
const PAUSE_MS = 1000

/** The dependencies for writing how attempts ended. */
export type AttemptResultsOptions = {
  db: Db
  log: Log
  clock: Clock
  /**
   * Aborted when the server stops. Whatever the database refuses after that is left to the next
   * start.
   */
  signal: AbortSignal
}

type Requested = { settlement: Settlement; written: PromiseWithResolvers<void> }

/**
 * Writes how attempts ended. Those that end during a write share the next transaction, and with it
 * one disk sync. A refused write is retried until it succeeds.
 */
export class AttemptResults {
  readonly #options: AttemptResultsOptions
  #waiting: Requested[] = []
  #isWriting = false

  constructor(options: AttemptResultsOptions) {
    this.#options = options
  }

  /** Resolves when the settlement is on disk; rejects only if the server stops first. */
  write(settlement: Settlement): Promise<void> {
    const written = Promise.withResolvers<void>()
    this.#waiting.push({ settlement, written })
    if (!this.#isWriting) void this.#run()
    return written.promise
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#options
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const refused = await this.#writeTogether(this.#waiting.splice(0, MAX_TOGETHER))
      if (refused.length === 0) continue
      this.#waiting.push(...refused)
      await clock.sleep(PAUSE_MS, signal)
    }
    this.#isWriting = false
  }

  /** Returns the settlements that have to be retried. */
  async #writeTogether(retryAfter: readonly Requested[]): Promise<Requested[]> {
    const { db, log, signal } = this.#options
    try {
      await settleDeliveries(
        db,
        retryAfter.map(({ settlement }) => settlement),
      )
      for (const { written } of retryAfter) written.resolve()
      return []
    } catch (error) {
      if (retryAfter.length > 1) {
        // One bad settlement must not fail the others.
        const refused: Requested[] = []
        for (const one of retryAfter) refused.push(...(await this.#writeTogether([one])))
        return refused
      }
      const [{ settlement, written }] = retryAfter as [Requested]
      const { id: deliveryId, jobId } = settlement.delivery
      log.error({ err: error, deliveryId, jobId }, 'cannot write how a delivery went, trying again')
      if (!signal.aborted) return [...retryAfter]
      written.reject(error)
      return []
    }
  }
}
