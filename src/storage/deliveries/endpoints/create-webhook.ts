import { type Actor, recordAudit } from '../../accounts/audit-log.ts'
import type { Db } from '../../database/db.ts'
import { insertMissingWebhook, type NewWebhook } from './endpoints.ts'
import { addSecret, generateSecret } from './signing-secrets.ts'

/**
 * The id of a webhook, and its signing secret; the secret is undefined if the account already had a
 * webhook with this URL.
 */
export type CreatedWebhook = { id: string; secret: string | undefined }

/**
 * Creates a webhook with a signing secret of its own, unless the account already has one with this
 * URL, and records in the audit log who created it. All is one transaction: a delivery sent in
 * between would be signed with another secret, or with none.
 */
export function createWebhook(
  db: Pick<Db, 'sql'>,
  webhook: NewWebhook,
  by: Actor,
): Promise<CreatedWebhook> {
  const { account, events, createdAt: at } = webhook
  return db.sql.transaction().execute(async (sql) => {
    const { id, isNew } = await insertMissingWebhook({ sql }, webhook)
    if (!isNew) return { id, secret: undefined }
    const secret = generateSecret()
    await addSecret({ sql }, { account, endpointId: id, secret, at })
    const entry = { action: 'webhook.created' as const, account, subject: id, details: { events } }
    await recordAudit({ sql }, entry, by)
    return { id, secret }
  })
}
