import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import type { DeliveryRow, EndpointRow, JobRow } from '../../database/tables.ts'

/** The number of jobs of a kind that are waiting or running. */
export type JobCount = { kind: JobRow['kind']; state: JobRow['status']; count: number }

/**
 * Counts the jobs that have not ended. The condition is worded like that of their index, so ended
 * jobs are never read, however many there are. Like all counts here, it runs on the connections for
 * reading and delays no other statement.
 */
export async function countActiveJobs(db: Db): Promise<JobCount[]> {
  const { rows } = await sql<JobCount>`
    select kind, status as state, count(*) as count from jobs
    where status = 'queued' or status = 'processing' group by kind, status`.execute(db.reader)
  return rows
}

/** The number of deliveries of a kind that have not ended. */
export type DeliveryCount = { kind: DeliveryRow['kind']; count: number }

/** Counts the deliveries that have not ended, also through their index. */
export async function countPendingDeliveries(db: Db): Promise<DeliveryCount[]> {
  const { rows } = await sql<DeliveryCount>`
    select kind, count(*) as count from deliveries
    where state = 'due' or state = 'waiting' group by kind`.execute(db.reader)
  return rows
}

/** The number of disabled endpoints of a kind. */
export type EndpointCount = { kind: EndpointRow['kind']; count: number }

/** Counts the disabled endpoints. */
export async function countDisabledEndpoints(db: Db): Promise<EndpointCount[]> {
  const { rows } = await sql<EndpointCount>`
    select kind, count(*) as count from endpoints
    where disabled_at is not null group by kind`.execute(db.reader)
  return rows
}
