import type { Selectable } from 'kysely'
import type { Db } from '../db.ts'
import type { EndpointRow } from '../tables.ts'
import type { WebhookEvent } from './delivery-outbox.ts'
import { endpointIdOf } from './endpoint-id.ts'

/** A receiver that is told of events of an account, and how it fares. Moments are milliseconds. */
export type Endpoint = {
  id: string
  account: string
  /** A webhook is told of all jobs; a callback stands for all callbacks of the account to one origin. */
  kind: EndpointRow['kind']
  url: string
  /** Null for all. */
  events: readonly WebhookEvent[] | null
  source: EndpointRow['source']
  name: string | null
  createdAt: number
  /** Since when no delivery has succeeded; null while the last one did. */
  failingSince: number | null
  lastFailure: string | null
  lastSuccessAt: number | null
  disabledAt: number | null
  disabledReason: string | null
}

/** The database alone: commands that run beside a server have no objects. */
type Rows = Pick<Db, 'sql'>

/** What is known of a webhook when it is made. */
export type NewWebhook = Pick<
  Endpoint,
  'account' | 'url' | 'events' | 'source' | 'name' | 'createdAt'
>

/** Makes a webhook and resolves to its id; throws when the account has one at this address. */
export async function insertWebhook(db: Rows, webhook: NewWebhook): Promise<string> {
  const { id, isNew } = await insertMissingWebhook(db, webhook)
  if (isNew) return id
  throw new Error(`Cannot add the webhook: ${id} has this address already, for the same account`)
}

/** Makes a webhook unless the account has one at this address, which stays as it is. */
export async function insertMissingWebhook(
  db: Rows,
  { account, url, events, source, name, createdAt }: NewWebhook,
): Promise<{ id: string; isNew: boolean }> {
  const { href } = new URL(url)
  const id = endpointIdOf(account, 'webhook', href)
  const { numInsertedOrUpdatedRows = 0n } = await db.sql
    .insertInto('endpoints')
    .values({
      ...{ id, account, kind: 'webhook', url: href, source, name },
      ...{ events: events?.join() ?? null, created_at: createdAt },
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return { id, isNew: numInsertedOrUpdatedRows > 0n }
}

/** The endpoints of one account, or of all, the oldest first. */
export async function listEndpoints(
  db: Rows,
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

/** Finds an endpoint; with an account, that of another one is as good as missing. */
export async function findEndpoint(
  db: Rows,
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

/** Has an endpoint tried again, its failures forgotten; false when there is none. */
export async function enableEndpoint(db: Rows, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db.sql
    .updateTable('endpoints')
    .set({ disabled_at: null, disabled_reason: null, failing_since: null, last_failure: null })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Has an endpoint told nothing any more: what is queued for it from now on is noted as failed. What was
 * queued before is the caller's to fail. False when it is disabled already, which stays as it is, or gone.
 */
export async function disableEndpoint(
  db: Rows,
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

/** The columns of a row in the words of the code. */
export function toEndpoint(row: Selectable<EndpointRow>): Endpoint {
  const { id, account, kind, url, source, name } = row
  return {
    ...{ id, account, kind, url, source, name },
    events: row.events === null ? null : (row.events.split(',') as WebhookEvent[]),
    createdAt: row.created_at,
    failingSince: row.failing_since,
    lastFailure: row.last_failure,
    lastSuccessAt: row.last_success_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
  }
}
