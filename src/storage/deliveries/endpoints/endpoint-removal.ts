import type { DialectQueryable } from '../../database/db.ts'
import { failEndpointDeliveries } from '../deliveries.ts'
import { disableEndpoint, insertMissingWebhook } from './endpoints.ts'

/**
 * Removes an endpoint with its secrets. Its pending deliveries fail; the delivery log stays. The
 * endpoint is disabled first: a process that dies midway leaves no pending delivery without an
 * endpoint, and the removal can be repeated. Returns false if there is no such endpoint.
 */
export async function removeEndpoint(
  db: DialectQueryable,
  id: string,
  { reason, at }: { reason: string; at: number },
): Promise<boolean> {
  await disableEndpoint(db, id, { reason, at })
  await failEndpointDeliveries(db, id, { reason, at })
  return db.sql.transaction().execute(async (sql) => {
    await sql.deleteFrom('signing_secrets').where('endpoint_id', '=', id).execute()
    const { numDeletedRows } = await sql
      .deleteFrom('endpoints')
      .where('id', '=', id)
      .executeTakeFirst()
    return numDeletedRows > 0n
  })
}

/**
 * Syncs the stored webhooks with those of the settings. A webhook that is still configured keeps
 * its state, even if it is disabled. A webhook with the same URL that a command created also stays,
 * with its choice of events.
 */
export async function syncConfiguredWebhooks(
  db: DialectQueryable,
  webhooks: readonly { account: string; url: string }[],
  { at }: { at: number },
): Promise<void> {
  const configured = new Set<string>()
  for (const webhook of webhooks) {
    const options = { events: null, source: 'settings', name: null, createdAt: at } as const
    const { id } = await insertMissingWebhook(db, { ...webhook, ...options })
    configured.add(id)
  }
  const rows = await db.sql
    .selectFrom('endpoints')
    .select('id')
    .where('source', '=', 'settings')
    .execute()
  for (const { id } of rows.filter((row) => !configured.has(row.id))) {
    await removeEndpoint(db, id, { reason: 'it was removed from STENO_WEBHOOKS', at })
  }
}
