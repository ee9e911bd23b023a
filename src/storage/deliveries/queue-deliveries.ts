import { randomUUID } from 'node:crypto'
import { type SqlBool, sql } from 'kysely'
import { type Db, RowDeletedError } from '../database/db.ts'
import type { DeliveryRow, JobRow } from '../database/tables.ts'
import { endpointIdOf } from './endpoints/endpoint-id.ts'

/** The events that an account webhook can receive. */
export const webhookEvents = [
  'transcription.created',
  'transcription.success',
  'transcription.error',
  'live.start_session',
  'live.start_recording',
  'live.end_recording',
  'live.end_session',
] as const

/** One event that an account webhook can receive. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** The reason recorded for a sequence that ended because its receiver responded with 410. */
export const ENDPOINT_GONE = 'gone'

/** Returns why nothing is sent to an endpoint that was disabled. */
export function disabledReason(reason: string | null): string {
  return `the endpoint is disabled: ${reason ?? 'by the operator'}`
}

/** The deliveries of one job to one endpoint, which are sent one after the other. */
export type DeliverySequence = { account: string; jobId: string; endpointId: string }

type QueuedRow = Pick<
  DeliveryRow,
  'seq' | 'kind' | 'event' | 'method' | 'url' | 'body' | 'body_object'
>

/** The condition for deliveries that have not ended, worded like that of their index. */
export const isPending = sql<SqlBool>`(state = 'due' or state = 'waiting')`

/**
 * Queues job events for the webhooks of an account, in the transaction of the change that they
 * report. Each event has a fixed position in the sequence of its job.
 */
export async function queueWebhooks(
  tx: Db,
  { id, account }: Pick<JobRow, 'id' | 'account'>,
  events: readonly WebhookEvent[],
  { at }: { at: number },
): Promise<void> {
  const webhooks = await tx.sql
    .selectFrom('endpoints')
    .select(['id', 'url', 'events'])
    .where('account', '=', account)
    .where('kind', '=', 'webhook')
    .execute()
  for (const webhook of webhooks) {
    const subscribedEvents = webhook.events?.split(',')
    const rows = events
      .filter((event) => !subscribedEvents || subscribedEvents.includes(event))
      .map((event): QueuedRow => {
        const body = JSON.stringify({ event, payload: { id } })
        return { ...rowDefaults('webhook', webhook.url), seq: eventOrder(event), event, body }
      })
    await queueRows(tx, { account, jobId: id, endpointId: webhook.id }, rows, { at })
  }
}

/**
 * Returns the position of an event in its sequence. `transcription.success` and
 * `transcription.error` share one, because a job has only one of them.
 */
function eventOrder(event: WebhookEvent): number {
  if (event === 'transcription.error') return eventOrder('transcription.success')
  return webhookEvents.indexOf(event)
}

function rowDefaults(kind: DeliveryRow['kind'], url: string) {
  return { kind, method: 'POST' as const, url, body: null, body_object: null }
}

/** The columns of a job that has just ended. */
export type EndedJob = Pick<JobRow, 'id' | 'account' | 'status' | 'request_params'>

/** The columns that `EndedJob` is read from. */
export const endedJobColumns = ['id', 'account', 'status', 'request_params'] as const

/**
 * Queues the notifications of the end of a recorded-audio job, in the transaction that ends it. The
 * callback body is built from the job when it is sent.
 */
export async function queueJobEnd(tx: Db, job: EndedJob, { at }: { at: number }): Promise<void> {
  const event = job.status === 'done' ? 'transcription.success' : 'transcription.error'
  const callback = callbackOf(job)
  if (callback) {
    const { url, method = 'POST' } = callback
    const sequence = await callbackSequence(tx, job, url, { at })
    await queueRows(tx, sequence, [{ ...rowDefaults('callback', url), method, seq: 0, event }], {
      at,
    })
  }
  await queueWebhooks(tx, job, [event], { at })
}

/**
 * Returns the callback body of a live session. `message` is the JSON text that a client receives.
 */
export function liveCallbackBody({
  id,
  event,
  message,
}: {
  id: string
  event: string
  message: string
}): string {
  return `${JSON.stringify({ id, event }).slice(0, -1)},"payload":${message}}`
}

/** A message of a live session for the callback of its job; `seq` numbers these messages. */
export type LiveCallback = Pick<DeliveryRow, 'seq' | 'event' | 'body' | 'body_object'> & {
  /** Whether the message is left out while too many wait, because a later message supersedes it. */
  isDroppable: boolean
}

/**
 * When live callbacks are queued, and how many may wait before superseded messages are left out.
 */
export type LiveCallbackOptions = { at: number; maxQueued: number }

/**
 * Queues messages of a live session for the callback that its job asked for. A message whose number
 * is already queued is not queued again. Returns how many messages were left out.
 */
export async function queueLiveCallbacks(
  tx: Db,
  job: Pick<JobRow, 'id' | 'account' | 'request_params'>,
  messages: readonly LiveCallback[],
  { at, maxQueued }: LiveCallbackOptions,
): Promise<number> {
  const callback = callbackOf(job)
  if (!callback || messages.length === 0) return 0
  const sequence = await callbackSequence(tx, job, callback.url, { at })
  let pending = await countPending(tx, sequence)
  const rows: QueuedRow[] = []
  for (const { isDroppable, ...message } of messages) {
    if (isDroppable && pending >= maxQueued) continue
    rows.push({ ...rowDefaults('live', callback.url), ...message })
    pending++
  }
  await queueRows(tx, sequence, rows, { at })
  return messages.length - rows.length
}

/** Returns the number of the last queued message of a session; undefined if none was queued. */
export async function lastLiveCallback(
  db: Db,
  { jobId }: { jobId: string },
): Promise<number | undefined> {
  const row = await db.sql
    .selectFrom('deliveries')
    .select((row) => row.fn.max('seq').as('seq'))
    .where('job_id', '=', jobId)
    .where('kind', '=', 'live')
    .executeTakeFirst()
  return row?.seq ?? undefined
}

type Callback = { url: string; method?: 'POST' | 'PUT' }

function callbackOf({ request_params }: Pick<JobRow, 'request_params'>): Callback | undefined {
  const { callback, callback_config } = JSON.parse(request_params ?? '{}') as {
    callback?: boolean
    callback_config?: Callback
  }
  return callback && callback_config?.url ? callback_config : undefined
}

/**
 * Returns the sequence of the callbacks of a job. All callbacks of an account to one origin share
 * an endpoint, because an origin that is unavailable is so for all of them.
 */
async function callbackSequence(
  tx: Db,
  { id, account }: Pick<JobRow, 'id' | 'account'>,
  url: string,
  { at }: { at: number },
): Promise<DeliverySequence> {
  const origin = URL.parse(url)?.origin ?? url
  const endpointId = endpointIdOf(account, 'callback', origin)
  await tx.sql
    .insertInto('endpoints')
    .values({
      id: endpointId,
      account,
      kind: 'callback',
      url: origin,
      source: 'jobs',
      events: null,
      name: null,
      created_at: at,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  return { account, jobId: id, endpointId }
}

async function countPending(tx: Db, { jobId, endpointId }: DeliverySequence): Promise<number> {
  const { pending } = await tx.sql
    .selectFrom('deliveries')
    .select((row) => row.fn.countAll<number>().as('pending'))
    .where('endpoint_id', '=', endpointId)
    .where('job_id', '=', jobId)
    .where(isPending)
    .executeTakeFirstOrThrow()
  return pending
}

/** Maximum rows of one statement. */
const ROWS_PER_STATEMENT = 100

/**
 * Queues deliveries. If their sequence is closed, they are recorded as failed, so that they can be
 * resent once the endpoint is enabled.
 */
async function queueRows(
  tx: Db,
  sequence: DeliverySequence,
  rows: readonly QueuedRow[],
  { at }: { at: number },
): Promise<void> {
  await lockSequence(tx, sequence)
  const reason = await findCloseReason(tx, sequence, { kind: rows[0]?.kind })
  const state =
    reason === null
      ? { state: 'waiting' as const, reason, ended_at: null }
      : { state: 'failed' as const, reason, ended_at: at }
  const { account, jobId, endpointId } = sequence
  const common = { account, job_id: jobId, endpoint_id: endpointId, created_at: at, next_at: null }
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    const values = rows.slice(from, from + ROWS_PER_STATEMENT).map((row) => {
      return { id: randomUUID(), ...common, ...row, ...state }
    })
    await tx.sql
      .insertInto('deliveries')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  if (reason === null) await makeNextDue(tx, sequence, { at })
}

/**
 * Returns why a sequence is closed; null if it is open. It is closed if its endpoint is disabled,
 * or if a callback endpoint responded with 410. A webhook that did so is disabled; once it is
 * enabled again, its sequences continue.
 */
async function findCloseReason(
  tx: Db,
  { jobId, endpointId }: DeliverySequence,
  { kind }: { kind: DeliveryRow['kind'] | undefined },
): Promise<string | null> {
  const endpoint = await tx.sql
    .selectFrom('endpoints')
    .select(['disabled_at', 'disabled_reason'])
    .where('id', '=', endpointId)
    .modifyEnd(tx.dialect.forKeyShare)
    .executeTakeFirst()
  if (!endpoint) throw new RowDeletedError('the endpoint was removed')
  if (endpoint.disabled_at !== null) return disabledReason(endpoint.disabled_reason)
  if (kind === 'webhook') return null
  const last = await tx.sql
    .selectFrom('deliveries')
    .select(['state', 'reason'])
    .where('job_id', '=', jobId)
    .where('endpoint_id', '=', endpointId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.state === 'failed' && last.reason === ENDPOINT_GONE ? ENDPOINT_GONE : null
}

/**
 * Makes transactions that change the same sequence run one by one, so that each sees which
 * deliveries the others left due or waiting.
 */
export async function lockSequence(
  tx: Pick<Db, 'sql' | 'dialect'>,
  { jobId, endpointId }: { jobId: string | null; endpointId: string },
): Promise<void> {
  // The name stays, because servers of earlier versions lock it, too.
  if (jobId !== null) await tx.dialect.lock?.(tx, `lane of ${jobId} to ${endpointId}`)
}

/** Makes the first waiting delivery of a sequence due, unless one already is. */
export async function makeNextDue(
  tx: Db,
  { jobId, endpointId }: Pick<DeliverySequence, 'jobId' | 'endpointId'>,
  { at }: { at: number },
): Promise<void> {
  await sql`update deliveries set state = 'due', next_at = ${at}
    where id = (select id from deliveries
      where endpoint_id = ${endpointId} and job_id = ${jobId} and ${isPending}
      order by seq limit 1)
    and not exists (select 1 from deliveries
      where job_id = ${jobId} and endpoint_id = ${endpointId} and state = 'due'
        and job_id is not null)`.execute(tx.sql)
}
