import type { Config } from '../../config/config.ts'
import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { createGroupCommit } from '../../storage/database/group-commit.ts'
import {
  type AttemptResult,
  type Delivery,
  recordOutcome,
} from '../../storage/deliveries/deliveries.ts'
import type { Clock } from '../system-clock.ts'
import { disableFailingEndpoint } from './disable-endpoint.ts'

/** Pause after the database refused: a full disk or a lock of another process is temporary. */
const PAUSE_MS = 1000

/** The dependencies for writing how attempts ended. */
export type AttemptResultsOptions = {
  db: Db
  settings: Config['delivery']
  log: Log
  clock: Clock
  /**
   * Aborted when the server stops. Whatever the database refuses after that is left to the next
   * start.
   */
  signal: AbortSignal
}

/** How an attempt at a delivery ended. */
type EndedAttempt = { delivery: Pick<Delivery, 'endpointId' | 'kind'>; result: AttemptResult }

/**
 * Writes how attempts ended, and disables endpoints in the same transaction, so that no sender sees
 * the next delivery of such an endpoint due. Attempts that end during a write share the next
 * transaction. A refused write is retried until it succeeds.
 */
export class AttemptResults {
  readonly #options: AttemptResultsOptions
  readonly #writeTogether: (ended: EndedAttempt) => Promise<string | undefined>

  constructor(options: AttemptResultsOptions) {
    this.#options = options
    const { db, settings, clock } = options
    const write = async (tx: Db, { delivery, result }: EndedAttempt) => {
      await recordOutcome(tx, result)
      if (result.outcome === 'delivered') return undefined
      return disableFailingEndpoint(tx, settings, { delivery, result, at: clock.now() })
    }
    this.#writeTogether = createGroupCommit(db, write, {
      orderBy: ({ result: { delivery } }) => `${delivery.endpointId} ${delivery.jobId}`,
    })
  }

  /**
   * Resolves when the result is on disk, to the reason if it disabled the endpoint. Rejects only if
   * the server stops first.
   */
  async write(ended: EndedAttempt): Promise<string | undefined> {
    const { log, clock, signal } = this.#options
    const { id: deliveryId, jobId } = ended.result.delivery
    for (;;) {
      try {
        return await this.#writeTogether(ended)
      } catch (err) {
        log.error({ err, deliveryId, jobId }, 'cannot store the outcome of a delivery, retrying')
        if (signal.aborted) throw err
        await clock.sleep(PAUSE_MS, signal)
      }
    }
  }
}
