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

/**
 * Pause after the database refused a write: a full disk or a lock of another process is temporary.
 */
const PAUSE_MS = 1000

/** The dependencies for writing the outcomes of attempts. */
export type AttemptResultsOptions = {
  db: Db
  settings: Config['delivery']
  log: Log
  clock: Clock
  /**
   * Aborted when the server stops: later writes are not retried, and the next process makes the
   * attempts again.
   */
  signal: AbortSignal
}

/** A delivery, and the result of an attempt at it. */
type EndedAttempt = { delivery: Pick<Delivery, 'endpointId' | 'kind'>; result: AttemptResult }

/**
 * Writes the outcomes of attempts, and disables endpoints in the same transaction, so that no
 * sender finds the next delivery of such an endpoint due. Attempts that end during a write share
 * the next transaction. A refused write is retried until it succeeds.
 */
export class AttemptResults {
  readonly #options: AttemptResultsOptions
  readonly #writeInGroup: (ended: EndedAttempt) => Promise<string | undefined>

  constructor(options: AttemptResultsOptions) {
    this.#options = options
    const { db, settings, clock } = options
    const write = async (tx: Db, { delivery, result }: EndedAttempt) => {
      await recordOutcome(tx, result)
      if (result.outcome === 'delivered') return undefined
      return disableFailingEndpoint(tx, settings, { delivery, result, at: clock.now() })
    }
    this.#writeInGroup = createGroupCommit(db, write, {
      orderBy: ({ result: { delivery } }) => `${delivery.endpointId} ${delivery.jobId}`,
    })
  }

  /**
   * Writes the result of an attempt. Resolves when it is on disk, to the reason if it disabled the
   * endpoint. Rejects only if the server stops first.
   */
  async write(ended: EndedAttempt): Promise<string | undefined> {
    const { log, clock, signal } = this.#options
    const { id: deliveryId, jobId } = ended.result.delivery
    for (;;) {
      try {
        return await this.#writeInGroup(ended)
      } catch (err) {
        log.error({ err, deliveryId, jobId }, 'cannot store the outcome of a delivery, retrying')
        if (signal.aborted) throw err
        await clock.sleep(PAUSE_MS, signal)
      }
    }
  }
}
