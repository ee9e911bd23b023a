import { sql } from 'kysely'
import { type Db, inTransaction } from '../database/db.ts'
import type { DeliveryId } from './delivery-log.ts'
import { lockSequence, makeNextDue } from './queue-deliveries.ts'

/**
 * Resends a delivery, starting over with the first attempt of its schedule; one that waits for a
 * retry becomes due at once. Returns why not if there is no such delivery, or if its endpoint is
 * disabled or gone.
 */
export function resendDelivery(
  db: Db,
  { id, account, at }: DeliveryId & { at: number },
): Promise<'queued' | 'missing' | 'disabled' | 'gone'> {
  return inTransaction(db, async (tx) => {
    await lockSequenceOf(tx, id)
    const delivery = await tx.sql
      .selectFrom('deliveries')
      .leftJoin('endpoints', 'endpoints.id', 'deliveries.endpoint_id')
      .select([
        'deliveries.state',
        'deliveries.job_id as jobId',
        'endpoint_id as endpointId',
        'endpoints.id as endpoint',
        'disabled_at',
      ])
      .where('deliveries.id', '=', id)
      .where('deliveries.account', '=', account)
      .executeTakeFirst()
    if (!delivery) return 'missing'
    if (delivery.endpoint === null) return 'gone'
    if (delivery.disabled_at !== null) return 'disabled'
    const { state, jobId, endpointId } = delivery
    const change = tx.sql.updateTable('deliveries').where('id', '=', id)
    if (state === 'due') await change.set({ next_at: at }).execute()
    if (state === 'due' || state === 'waiting') return 'queued'
    const isTest = jobId === null
    await change
      .set({ state: isTest ? 'due' : 'waiting', next_at: isTest ? at : null })
      .set({ tries: 0, reason: null, ended_at: null })
      .execute()
    if (!isTest) await makeNextDue(tx, { jobId, endpointId }, { at })
    return 'queued'
  })
}

/** The sequence of a delivery never changes, so it can be read before it is locked. */
async function lockSequenceOf(tx: Db, id: string): Promise<void> {
  if (!tx.dialect.lock) return
  const sequence = await tx.sql
    .selectFrom('deliveries')
    .select(['job_id as jobId', 'endpoint_id as endpointId'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (sequence) await lockSequence(tx, sequence)
}

/** Selects failed deliveries of an account to resend: those that ended since a given time. */
export type ResendFilter = {
  account: string
  since: number
  endpointId?: string | undefined
  jobId?: string | undefined
  at: number
}

/** The deliveries that one transaction queues again, so that others can write in between. */
const BATCH = 100

/**
 * Resends all failed deliveries, except those to endpoints that are disabled or gone; returns how
 * many. Works sequence by sequence, so that each keeps its order.
 */
export async function resendFailed(db: Db, filter: ResendFilter): Promise<number> {
  let resent = 0
  for (let after: FailedRow | undefined; ; ) {
    const rows = await findFailed(db, filter, after)
    resent += await inTransaction(db, (tx) => resendRows(tx, rows, filter))
    if (rows.length < BATCH) return resent
    after = rows.at(-1)
  }
}

type FailedRow = { id: string; job_id: string; endpoint_id: string; seq: number }

/**
 * Returns the next failed rows after `after`, ordered by sequence and, within a sequence, by
 * position.
 */
async function findFailed(
  db: Db,
  { account, since, endpointId, jobId, at }: ResendFilter,
  after: FailedRow | undefined,
): Promise<FailedRow[]> {
  const { rows } = await sql<FailedRow>`
    select id, job_id, endpoint_id, seq from deliveries
      ${db.dialect.byIndex('deliveries_failed')}
    where account = ${account} and state = 'failed' and job_id is not null
      and ended_at >= ${since} and ended_at <= ${at}
      ${endpointId === undefined ? sql`` : sql`and endpoint_id = ${endpointId}`}
      ${jobId === undefined ? sql`` : sql`and job_id = ${jobId}`}
      ${after ? sql`and (job_id, endpoint_id, seq) > (${after.job_id}, ${after.endpoint_id}, ${after.seq})` : sql``}
    order by job_id, endpoint_id, seq limit ${BATCH}`.execute(db.reader)
  return rows
}

async function resendRows(
  tx: Db,
  rows: readonly FailedRow[],
  { at }: ResendFilter,
): Promise<number> {
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  const sequences = new Map(rows.map((row) => [`${row.job_id} ${row.endpoint_id}`, row]))
  for (const { job_id, endpoint_id } of sequences.values()) {
    await lockSequence(tx, { jobId: job_id, endpointId: endpoint_id })
  }
  const { numAffectedRows } = await sql`
    update deliveries set state = 'waiting', next_at = null, tries = 0, reason = null, ended_at = null
    where id in (${sql.join(ids)}) and state = 'failed'
      and exists (select 1 from endpoints where id = endpoint_id and disabled_at is null)`.execute(
    tx.sql,
  )
  for (const { job_id, endpoint_id } of sequences.values()) {
    await makeNextDue(tx, { jobId: job_id, endpointId: endpoint_id }, { at })
  }
  return Number(numAffectedRows ?? 0)
}
