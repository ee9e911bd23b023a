import type { Db } from '../database/db.ts'
import { type AttemptRecord, type Delivery, insertAttempt } from './deliveries.ts'

/** A test delivery, which checks whether deliveries reach a webhook. */
export type TestDelivery = Pick<Delivery, 'id' | 'account' | 'endpointId' | 'event' | 'url'> & {
  body: string
  attempt: AttemptRecord
  /** Why the delivery failed; null if it succeeded. */
  reason: string | null
}

/**
 * Writes a test delivery to the delivery log. It belongs to no job and has ended with its attempt.
 */
export async function insertTestDelivery(
  db: Pick<Db, 'sql'>,
  delivery: TestDelivery,
): Promise<void> {
  const { id, account, endpointId, event, url, body, attempt, reason } = delivery
  await db.sql.transaction().execute(async (sql) => {
    await sql
      .insertInto('deliveries')
      .values({
        id,
        account,
        job_id: null,
        endpoint_id: endpointId,
        seq: 0,
        kind: 'webhook',
        event,
        method: 'POST',
        url,
        body,
        body_object: null,
        state: reason === null ? 'delivered' : 'failed',
        reason,
        tries: 1,
        attempts: 1,
        created_at: attempt.at,
        next_at: null,
        ended_at: attempt.at + attempt.ms,
      })
      .execute()
    await insertAttempt({ sql }, { deliveryId: id, number: 1, attempt })
  })
}
