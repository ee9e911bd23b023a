import type { Db } from '../database/db.ts'
import { type AttemptRecord, type Delivery, insertAttempt } from './deliveries.ts'

/** The test delivery sent to a webhook to check whether it arrives. */
export type TestDelivery = Pick<Delivery, 'id' | 'account' | 'endpointId' | 'event' | 'url'> & {
  body: string
  attempt: AttemptRecord
  /** Null if it arrived. */
  reason: string | null
}

/**
 * Writes a test delivery to the delivery log. It belongs to no job and has ended with its attempt.
 */
export async function insertTestDelivery(db: Pick<Db, 'sql'>, trial: TestDelivery): Promise<void> {
  const { id, account, endpointId, event, url, body, attempt, reason } = trial
  await db.sql.transaction().execute(async (sql) => {
    await sql
      .insertInto('deliveries')
      .values({
        ...{ id, account, job_id: null, endpoint_id: endpointId, seq: 0 },
        ...{ kind: 'webhook', event, method: 'POST', url, body, body_object: null },
        ...{ state: reason === null ? 'delivered' : 'failed', reason, tries: 1, attempts: 1 },
        ...{ created_at: attempt.at, next_at: null, ended_at: attempt.at + attempt.ms },
      })
      .execute()
    await insertAttempt({ sql }, { deliveryId: id, number: 1, attempt })
  })
}
