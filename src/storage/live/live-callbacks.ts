import { sql } from 'kysely'
import { wallNow } from '../../clock.ts'
import type { Db } from '../database/db.ts'
import { createGroupCommit } from '../database/group-commit.ts'
import { type LiveCallback, queueLiveCallbacks } from '../deliveries/queue-deliveries.ts'
import type { Lease } from '../jobs/queue/lease.ts'

/**
 * Queues messages of a running session for its callback: all of them or none. Returns how many were
 * left out because too many wait; returns undefined, and changes nothing, if the lease was lost.
 */
export type QueueCallbacks = (
  lease: Lease,
  messages: readonly LiveCallback[],
) => Promise<number | undefined>

type CallbackRequest = { lease: Lease; messages: readonly LiveCallback[] }

/**
 * Creates the function that queues live callbacks. `maxQueued` messages of a job may wait before
 * superseded ones are left out. Requests made during a write share the next transaction, because
 * the sessions need the disk for their audio.
 */
export function createCallbackQueue(db: Db, { maxQueued }: { maxQueued: number }): QueueCallbacks {
  const write = createGroupCommit(
    db,
    (tx, request: CallbackRequest) => {
      return queueIfLeased(tx, request, { maxQueued })
    },
    { orderBy: ({ lease }) => lease.id },
  )
  return (lease, messages) => write({ lease, messages })
}

/**
 * The only parameters that are read. A vocabulary among the others may be a megabyte, which the
 * event loop must not parse ten times a second.
 */
const CALLBACK_PARAMS = ['callback', 'callback_config']

/**
 * Queues messages if the lease is valid: a late write by an earlier process, or one for an ended
 * job, finds no job.
 */
async function queueIfLeased(
  tx: Db,
  { lease, messages }: CallbackRequest,
  { maxQueued }: { maxQueued: number },
): Promise<number | undefined> {
  // A process that takes the session over waits until these messages are queued.
  await tx.dialect.lockRows?.(tx, 'jobs', sql`id = ${lease.id}`)
  const params = tx.dialect.jsonFields('request_params', CALLBACK_PARAMS)
  const job = await tx.sql
    .selectFrom('jobs')
    .select(['id', 'account', params.as('request_params')])
    .where('id', '=', lease.id)
    .where('lease_epoch', '=', lease.epoch)
    .where('status', '=', 'processing')
    .executeTakeFirst()
  if (!job) return undefined
  return queueLiveCallbacks(tx, job, messages, { at: wallNow(), maxQueued })
}
