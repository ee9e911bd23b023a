import { sql } from 'kysely'
import { type Db, inTransaction } from '../db.ts'
import { type LiveCallback, queueLiveCallbacks } from '../deliveries/delivery-outbox.ts'
import type { Lease } from '../jobs/lease.ts'

/**
 * Queues messages of a session in hand for its callback: all of them or none. Resolves to how many were
 * left out because too many wait; undefined, and no change, when the lease was lost.
 */
export type QueueCallbacks = (
  lease: Lease,
  messages: readonly LiveCallback[],
) => Promise<number | undefined>

type Asked = {
  lease: Lease
  messages: readonly LiveCallback[]
  outcome: PromiseWithResolvers<number | undefined>
}

/** So many sessions keep other writers waiting for some milliseconds. */
const MAX_TOGETHER = 50

/**
 * Makes what queues live callbacks; of one job `maxQueued` may wait before messages that pass are left out.
 * What sessions ask for while others are being written shares one transaction, and with it one sync of
 * the disk: the disk is needed for their sound.
 */
export function createCallbackQueue(db: Db, { maxQueued }: { maxQueued: number }): QueueCallbacks {
  const waiting: Asked[] = []
  let isWriting = false

  async function write(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) await writeTogether(waiting.splice(0, MAX_TOGETHER))
    isWriting = false
  }

  async function writeTogether(asked: readonly Asked[]): Promise<void> {
    try {
      const outcomes = await inTransaction(db, async (tx) => {
        const outcomes: (number | undefined)[] = []
        for (const one of asked) outcomes.push(await queueHeld(tx, one, { maxQueued }))
        return outcomes
      })
      for (const [i, { outcome }] of asked.entries()) outcome.resolve(outcomes[i])
    } catch (error) {
      if (asked.length === 1) return asked[0]!.outcome.reject(error)
      // What is wrong with one is not the fault of the others.
      for (const one of asked) await writeTogether([one])
    }
  }

  return (lease, messages) => {
    const outcome = Promise.withResolvers<number | undefined>()
    waiting.push({ lease, messages, outcome })
    if (!isWriting) void write()
    return outcome.promise
  }
}

/** Of all parameters: a vocabulary among them may be a megabyte, which the loop must not read ten times a second. */
const callbackParams = sql<string>`json_object(
  'callback', json_extract(request_params, '$.callback'),
  'callback_config', json_extract(request_params, '$.callback_config'))`

/** An earlier process that writes late, or one whose job has ended, finds no job. */
async function queueHeld(
  tx: Db,
  { lease, messages }: Asked,
  { maxQueued }: { maxQueued: number },
): Promise<number | undefined> {
  const job = await tx.sql
    .selectFrom('jobs')
    .select(['id', 'account', callbackParams.as('request_params')])
    .where('id', '=', lease.id)
    .where('lease_epoch', '=', lease.epoch)
    .where('status', '=', 'processing')
    .executeTakeFirst()
  if (!job) return undefined
  return queueLiveCallbacks(tx, job, messages, { at: Date.now(), maxQueued })
}
