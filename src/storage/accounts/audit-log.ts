import { randomUUID } from 'node:crypto'
import { wallNow } from '../../clock.ts'
import type { Queryable } from '../database/db.ts'
import type { AuditRow } from '../database/tables.ts'

/** The actions that the audit log records. */
export const auditActions = [
  'key.created',
  'key.revoked',
  'job.deleted',
  'model.pulled',
  'model.removed',
  'webhook.created',
  'webhook.removed',
  'server.started',
] as const
/** An action that the audit log records. */
export type AuditAction = (typeof auditActions)[number]

/** The cause: a request, a command on the machine, the retention time, or a server itself. */
export const auditSources = ['api', 'command', 'retention', 'server'] as const

/** The actor: the key and address of a request, or the system user of a command. */
export type Actor = {
  source: AuditRow['source']
  keyId?: string | undefined
  address?: string | undefined
  user?: string | undefined
}

/** An entry to be written. Details never hold a key, a secret, or text of a transcript. */
export type AuditEntry = {
  action: AuditAction
  account?: string | undefined
  /** The id of the key, the job or the webhook, or the name of the model. */
  subject?: string | undefined
  details?: Record<string, unknown>
}

/** A written entry; `at` is in milliseconds since 1970, `details` JSON text. */
export type StoredAuditEntry = Omit<AuditRow, 'key_id'> & { keyId: string | null }

/** Writes an entry, in the transaction of the change that it records. */
export async function recordAudit(
  tx: Queryable,
  { action, account, subject, details }: AuditEntry,
  { source, keyId, address, user }: Actor,
): Promise<void> {
  const row: AuditRow = {
    id: randomUUID(),
    at: wallNow(),
    action,
    source,
    account: account ?? null,
    subject: subject ?? null,
    key_id: keyId ?? null,
    address: address ?? null,
    details: JSON.stringify({ ...(user !== undefined && { user }), ...details }),
  }
  await tx.sql.insertInto('audit_log').values(row).execute()
}

/** Selects entries of the audit log; all given conditions must hold. */
export type AuditFilter = {
  actions?: readonly AuditAction[] | undefined
  account?: string | undefined
  keyId?: string | undefined
  subject?: string | undefined
  /** Written at this time or later, in milliseconds since 1970. */
  from?: number | undefined
  /** Written before this time. */
  before?: number | undefined
}

/** Returns entries, newest first, and whether more follow. */
export async function listAudit(
  { sql: db }: Queryable,
  { actions = [], account, keyId, subject, from, before }: AuditFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ entries: StoredAuditEntry[]; more: boolean }> {
  let query = db.selectFrom('audit_log').selectAll().orderBy('at', 'desc').orderBy('id', 'desc')
  if (actions.length > 0) query = query.where('action', 'in', actions)
  if (account !== undefined) query = query.where('account', '=', account)
  if (keyId !== undefined) query = query.where('key_id', '=', keyId)
  if (subject !== undefined) query = query.where('subject', '=', subject)
  if (from !== undefined) query = query.where('at', '>=', from)
  if (before !== undefined) query = query.where('at', '<', before)
  const rows = await query
    .limit(limit + 1)
    .offset(offset)
    .execute()
  const entries = rows.slice(0, limit).map(({ key_id: keyId, ...row }) => ({ ...row, keyId }))
  return { entries, more: rows.length > limit }
}

/** Deletes the entries from before a time, in milliseconds since 1970. */
export async function deleteAudit(
  { sql: db }: Queryable,
  { before }: { before: number },
): Promise<void> {
  await db.deleteFrom('audit_log').where('at', '<', before).execute()
}
