import type { Log } from '../log.ts'
import type { Db } from '../storage/db.ts'
import { type Settlement, settleDelivery } from '../storage/deliveries/deliveries.ts'
import { createGroupCommit } from '../storage/group-commit.ts'
import type { Clock } from './clock.ts'

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

/**
 * Writes how attempts ended. Those that end during a write share the next transaction. A refused
 * write is retried until it succeeds.
 */
export class AttemptResults {
  readonly #options: AttemptResultsOptions
  readonly #settle: (settlement: Settlement) => Promise<void>

  constructor(options: AttemptResultsOptions) {
    this.#options = options
    this.#settle = createGroupCommit(options.db, settleDelivery, {
      orderBy: ({ delivery }) => `${delivery.endpointId} ${delivery.jobId}`,
    })
  }

  /** Resolves when the settlement is on disk; rejects only if the server stops first. */
  async write(settlement: Settlement): Promise<void> {
    const { log, clock, signal } = this.#options
    const { id: deliveryId, jobId } = settlement.delivery
    for (;;) {
      try {
        return await this.#settle(settlement)
      } catch (err) {
        log.error({ err, deliveryId, jobId }, 'cannot write how a delivery went, trying again')
        if (signal.aborted) throw err
        await clock.sleep(PAUSE_MS, signal)
      }
    }
  }
}
