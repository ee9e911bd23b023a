/** A table that is moved, and the columns by which its rows are ordered. */
export type TransferredTable = { name: string; key: readonly string[] }

/**
 * The tables that are moved, in this order. These are left out: owners, because none of them exists
 * any more; bytes per account, which the triggers of the new database count; and the index of
 * metadata, which is built again.
 */
export const transferredTables: readonly TransferredTable[] = [
  { name: 'keys', key: ['hash'] },
  { name: 'endpoints', key: ['id'] },
  { name: 'signing_secrets', key: ['id'] },
  { name: 'files', key: ['id'] },
  { name: 'jobs', key: ['id'] },
  { name: 'transcript_edits', key: ['job_id', 'version'] },
  { name: 'shares', key: ['hash'] },
  { name: 'idempotency_keys', key: ['account', 'key'] },
  { name: 'live_sessions', key: ['job_id'] },
  { name: 'deliveries', key: ['id'] },
  { name: 'delivery_attempts', key: ['delivery_id', 'number'] },
  { name: 'usage', key: ['account', 'measure', 'day', 'key_id', 'kind'] },
  { name: 'audit_log', key: ['id'] },
  { name: 'object_keys', key: ['id'] },
]

/** The index of metadata, which is compared though it is not copied. */
export const metadataIndex: TransferredTable = { name: 'job_metadata', key: ['token', 'id'] }

/** The tables of the target in which a transfer must find no rows. */
export const tablesToBeEmpty = [
  ...transferredTables,
  metadataIndex,
  { name: 'owners', key: ['id'] },
]

/** A value as both databases return it. */
export type TransferredValue = string | number | null | Uint8Array
/** A row by its columns. */
export type TransferredRow = Record<string, TransferredValue>
