import type { Selectable } from 'kysely'
import type { Queryable } from '../../database/db.ts'
import type { EndpointRow } from '../../database/tables.ts'
import type { WebhookEvent } from '../queue-deliveries.ts'
import { endpointIdOf } from './endpoint-id.ts'

/** A receiver of an account's events, and its health. Times are milliseconds. */
export type Endpoint = {
  id: string
  account: string
  /**
   * A webhook receives events of all jobs; a callback endpoint stands for all callbacks of the
   * account to one origin.
   */
  kind: EndpointRow['kind']
  url: string
  /** Null means all. */
  events: readonly WebhookEvent[] | null
  source: EndpointRow['source']
  name: string | null
  createdAt: number
  /** Since when no delivery has succeeded; null if the last one succeeded. */
  failingSince: number | null
  lastFailure: string | null
  lastSuccessAt: number | null
  disabledAt: number | null
  disabledReason: string | null
}

/** The properties of a new webhook. */
export type NewWebhook = Pick<
  Endpoint,
  'account' | 'url' | 'events' | 'source' | 'name' | 'createdAt'
>

/**
 * Creates a webhook and resolves to its id; throws if the account already has one with this URL.
 */
export async function insertWebhook(db: Queryable, webhook: NewWebhook): Promise<string> {
  const { id, isNew } = await insertMissingWebhook(db, webhook)
  if (isNew) return id
  throw new Error(`Cannot add the webhook: ${id} has this address already, for the same account`)
}

/** Creates a webhook unless the account already has one with this URL, which stays as it is. */
export async function insertMissingWebhook(
  db: Queryable,
  { account, url, events, source, name, createdAt }: NewWebhook,
): Promise<{ id: string; isNew: boolean }> {
  const { href } = new URL(url)
  const id = endpointIdOf(account, 'webhook', href)
  const { numInsertedOrUpdatedRows = 0n } = await db.sql
    .insertInto('endpoints')
    .values({
      id,
      account,
      kind: 'webhook',
      url: href,
      source,
      name,
      events: events?.join() ?? null,
      created_at: createdAt,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return { id, isNew: numInsertedOrUpdatedRows > 0n }
}

/** Returns the endpoints of one account, or of all, oldest first. */
export async function listEndpoints(
  db: Queryable,
  { account }: { account?: string | undefined } = {},
): Promise<Endpoint[]> {
  const rows = await db.sql
    .selectFrom('endpoints')
    .selectAll()
    .$if(account !== undefined, (query) => query.where('account', '=', account!))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toEndpoint)
}

/** Returns how many webhooks an account has. */
export async function countWebhooks(db: Queryable, account: string): Promise<number> {
  const { count } = await db.sql
    .selectFrom('endpoints')
    .select((query) => query.fn.countAll<number>().as('count'))
    .where('account', '=', account)
    .where('kind', '=', 'webhook')
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Finds an endpoint. Given an account, treats an endpoint of another one as missing. */
export async function findEndpoint(
  db: Queryable,
  { id, account }: { id: string; account?: string | undefined },
): Promise<Endpoint | undefined> {
  const row = await db.sql
    .selectFrom('endpoints')
    .selectAll()
    .where('id', '=', id)
    .$if(account !== undefined, (query) => query.where('account', '=', account!))
    .executeTakeFirst()
  return row && toEndpoint(row)
}

/** Enables an endpoint again and clears its failures; returns false if there is none. */
export async function enableEndpoint(db: Queryable, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db.sql
    .updateTable('endpoints')
    .set({ disabled_at: null, disabled_reason: null, failing_since: null, last_failure: null })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Disables an endpoint: deliveries that are queued for it from now on are recorded as failed. The
 * caller has to fail those that were queued before. Returns false, and changes nothing, if the
 * endpoint is already disabled or does not exist.
 */
export async function disableEndpoint(
  db: Queryable,
  id: string,
  { reason, at }: { reason: string; at: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db.sql
    .updateTable('endpoints')
    .set({ disabled_at: at, disabled_reason: reason })
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Converts a row to an endpoint. */
export function toEndpoint(row: Selectable<EndpointRow>): Endpoint {
  const { id, account, kind, url, source, name } = row
  return {
    id,
    account,
    kind,
    url,
    source,
    name,
    events: row.events === null ? null : (row.events.split(',') as WebhookEvent[]),
    createdAt: row.created_at,
    failingSince: row.failing_since,
    lastFailure: row.last_failure,
    lastSuccessAt: row.last_success_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
  }
}
