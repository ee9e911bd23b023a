import { sql } from 'kysely'
import type { Db } from './db.ts'
import type { DeliveryRow, EndpointRow, JobRow } from './tables.ts'

/** So many jobs of a kind wait, or are in hand. */
export type JobCount = { kind: JobRow['kind']; state: JobRow['status']; count: number }

/**
 * Counts the jobs that have not ended, in the words of their index: of those that have, however many
 * there are, none is read. Like all counts here it runs beside other statements.
 */
export async function countActiveJobs(db: Db): Promise<JobCount[]> {
  const { rows } = await sql<JobCount>`
    select kind, status as state, count(*) as count from jobs
    where status = 'queued' or status = 'processing' group by kind, status`.execute(db.readonly)
  return rows
}

/** So many deliveries of a kind have not ended. */
export type DeliveryCount = { kind: DeliveryRow['kind']; count: number }

/** Counts the deliveries that have not ended, likewise. */
export async function countPendingDeliveries(db: Db): Promise<DeliveryCount[]> {
  const { rows } = await sql<DeliveryCount>`
    select kind, count(*) as count from deliveries
    where state = 'due' or state = 'waiting' group by kind`.execute(db.readonly)
  return rows
}

/** So many receivers of a kind are not tried any more. */
export type EndpointCount = { kind: EndpointRow['kind']; count: number }

/** Counts the receivers that are not tried any more. */
export async function countDisabledEndpoints(db: Db): Promise<EndpointCount[]> {
  const { rows } = await sql<EndpointCount>`
    select kind, count(*) as count from endpoints
    where disabled_at is not null group by kind`.execute(db.readonly)
  return rows
}
