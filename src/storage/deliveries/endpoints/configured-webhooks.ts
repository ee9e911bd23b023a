import type { DialectQueryable } from '../../database/db.ts'
import { removeEndpoint } from './endpoint-removal.ts'
import { insertMissingWebhook } from './endpoints.ts'

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
