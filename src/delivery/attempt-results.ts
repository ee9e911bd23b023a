import type { Log } from '../log.ts'
import type { Db } from '../storage/db.ts'
import { type Settlement, settleDeliveries } from '../storage/deliveries/deliveries.ts'
import type { Clock } from './clock.ts'

/** So many settlements keep other writers waiting for some milliseconds. */
const MAX_TOGETHER = 50
/** Pause after the database refused: a full disk or a lock of another program passes. */
const PAUSE_MS = 1000

/** What writes how attempts ended. */
export type AttemptResultsOptions = {
  db: Db
  log: Log
  clock: Clock
  /** Aborted when the server stops: what the database refuses from then on is left to the next start. */
  signal: AbortSignal
}

type Asked = { settlement: Settlement; written: PromiseWithResolvers<void> }

/**
 * Writes how attempts ended. Those that end while others are being written share one transaction, and
 * with it one sync of the disk. What the database refuses is tried again until it is written.
 */
export class AttemptResults {
  readonly #options: AttemptResultsOptions
  #waiting: Asked[] = []
  #isWriting = false

  constructor(options: AttemptResultsOptions) {
    this.#options = options
  }

  /** Resolves when it is on the disk; rejects only when the server stops before. */
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

  /** Returns what has to be tried again. */
  async #writeTogether(asked: readonly Asked[]): Promise<Asked[]> {
    const { db, log, signal } = this.#options
    try {
      await settleDeliveries(
        db,
        asked.map(({ settlement }) => settlement),
      )
      for (const { written } of asked) written.resolve()
      return []
    } catch (error) {
      if (asked.length > 1) {
        // What is wrong with one is not the fault of the others.
        const refused: Asked[] = []
        for (const one of asked) refused.push(...(await this.#writeTogether([one])))
        return refused
      }
      const [{ settlement, written }] = asked as [Asked]
      const { id: deliveryId, jobId } = settlement.delivery
      log.error({ err: error, deliveryId, jobId }, 'cannot write how a delivery went, trying again')
      if (!signal.aborted) return [...asked]
      written.reject(error)
      return []
    }
  }
}
