import { randomUUID } from 'node:crypto'
import type { Db } from '../../../src/storage/database/db.ts'
import type { EndpointRow } from '../../../src/storage/database/tables.ts'
import {
  type AttemptRecord,
  type Delivery,
  findDueEndpoints,
  recordOutcome,
  toDelivery,
} from '../../../src/storage/deliveries/deliveries.ts'
import { failJob, finishJob } from '../../../src/storage/jobs/finish-job.ts'
import type { JobResult } from '../../../src/storage/jobs/results.ts'
import { addJob, claim, type TestJob } from '../jobs/test-jobs.ts'

/** Returns the parameters of a job with a callback to `url`. */
export function callbackTo(url: string, method = 'POST'): Record<string, unknown> {
  return { callback: true, callback_config: { url, method } }
}

/** Adds a webhook of an account; returns its id. */
export async function addWebhook(
  db: Db,
  given: Partial<Pick<EndpointRow, 'account' | 'url' | 'events'>> = {},
): Promise<string> {
  const { account = 'acme', url = 'https://hooks.example/all', events = null } = given
  const id = `ep_${randomUUID()}`
  const row = { id, account, kind: 'webhook' as const, url, events, source: 'cli' as const }
  await db.sql
    .insertInto('endpoints')
    .values({ ...row, name: null, created_at: 1 })
    .execute()
  return id
}

/** A delivery that is due, for an endpoint of its own. */
type TestDelivery = { account?: string; endpoint: string; nextAt: number }

/** A statement takes a bounded number of values. */
const ROWS_TOGETHER = 500

/** Adds deliveries that are due. */
export async function addDue(db: Pick<Db, 'sql'>, ...due: readonly TestDelivery[]): Promise<void> {
  const reported = {
    kind: 'webhook',
    event: 'x',
    method: 'POST',
    url: 'http://a.example/',
  } as const
  const state = { state: 'due', created_at: 1 } as const
  const rows = due.map(({ account = 'acme', endpoint, nextAt }) => {
    const of = { id: randomUUID(), account, job_id: null, endpoint_id: endpoint, seq: 0 }
    return { ...of, ...reported, ...state, next_at: nextAt }
  })
  for (let at = 0; at < rows.length; at += ROWS_TOGETHER) {
    const some = rows.slice(at, at + ROWS_TOGETHER)
    await db.sql.insertInto('deliveries').values(some).execute()
  }
}

/** Creates a job and ends it; returns its id. */
export async function endNewJob(
  db: Db,
  { result, at = 9000, ...job }: TestJob & { result?: JobResult; at?: number } = {},
): Promise<string> {
  const id = (await addJob(db, job))!
  const { lease } = (await claim(db))!
  const failure = { code: 404, message: 'Cannot find the audio' }
  if (result) await finishJob(db, lease, { result, at })
  else await failJob(db, lease, { failure, at })
  return id
}

/** Returns all deliveries that are due at `now`, by endpoint and moment, without leasing them. */
export async function takeAll(db: Db, now = 10_000): Promise<Delivery[]> {
  const rows = await db.sql
    .selectFrom('deliveries')
    .selectAll()
    .where('state', '=', 'due')
    .where('next_at', '<=', now)
    .execute()
  const due = rows.map(toDelivery).toSorted((a, b) => {
    return a.nextAt! - b.nextAt! || a.createdAt - b.createdAt
  })
  const endpoints = await findDueEndpoints(db, { until: now })
  return endpoints.flatMap(({ endpointId }) => due.filter((one) => one.endpointId === endpointId))
}

/** Returns an attempt that began at `at` and was answered with `status`. */
export function attemptAt(at: number, status: number | null = 200): AttemptRecord {
  return {
    at,
    ms: 5,
    status,
    error: status === null ? 'nothing listens at the address' : null,
    requestHeaders: { 'webhook-timestamp': String(at) },
    responseHeaders: status === null ? null : { server: 'test' },
    responseBody: status === null ? null : 'thanks',
  }
}

/** Fails deliveries for good, with attempts that were answered 500. */
export async function failAll(db: Db, deliveries: readonly Delivery[], at = 11_000): Promise<void> {
  const reason = 'it answered 500'
  for (const delivery of deliveries) {
    const attempt = attemptAt(at, 500)
    await recordOutcome(db, { delivery, attempt, outcome: 'failed', reason })
  }
}
