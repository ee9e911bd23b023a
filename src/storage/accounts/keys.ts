import type { Selectable } from 'kysely'
import type { Queryable } from '../database/db.ts'
import type { KeyRow } from '../database/tables.ts'
import { type Actor, recordAudit } from './audit-log.ts'

/**
 * The scopes of a key: `read` for everything that reads, `write` for recordings and their jobs,
 * `live` for live sessions, `keys` for the keys of its account, `admin` for what concerns the whole
 * server, its keys included.
 */
export const scopes = ['read', 'write', 'live', 'keys', 'admin'] as const

/** The scopes of a key that names none: all work of its own account. */
export const accountScopes = ['read', 'write', 'live'] as const satisfies Scope[]

/** One scope of a key. */
export type Scope = (typeof scopes)[number]

/** A stored key. */
export type StoredKey = {
  /** The SHA-256 of the key in hex. */
  hash: string
  account: string
  /** The beginning of the key, which people may see; it is the id in commands. */
  prefix: string
  name: string | null
  scopes: readonly Scope[]
  createdAt: number
  expiresAt: number | null
  lastUsedAt: number | null
}

/** The properties of a new key. The defaults are `accountScopes`, no name and no expiry. */
export type NewKey = Pick<StoredKey, 'hash' | 'account' | 'prefix' | 'createdAt'> &
  Partial<Pick<StoredKey, 'name' | 'scopes' | 'expiresAt'>>

/**
 * Stores a key by its hash, and records in the audit log who created it; the key itself never
 * reaches the database.
 */
export async function insertKey(
  db: Queryable,
  key: NewKey,
  by: Actor = { source: 'server' },
): Promise<void> {
  const { hash, account, prefix, createdAt, name = null, expiresAt = null } = key
  const scopes = key.scopes ?? accountScopes
  await runInTransaction(db, async (tx) => {
    await tx.sql
      .insertInto('keys')
      .values({
        hash,
        account,
        prefix,
        name,
        scopes: scopes.join(),
        created_at: createdAt,
        expires_at: expiresAt,
      })
      .execute()
    const details = { name, scopes, expires_at: expiresAt && new Date(expiresAt).toISOString() }
    await recordAudit(tx, { action: 'key.created', account, subject: prefix, details }, by)
  })
}

function runInTransaction<T>(db: Queryable, work: (tx: Queryable) => Promise<T>): Promise<T> {
  if (db.sql.isTransaction) return work(db)
  return db.sql.transaction().execute((sql) => work({ sql }))
}

/** Finds the key with this hash. */
export async function findKeyByHash(db: Queryable, hash: string): Promise<StoredKey | undefined> {
  const row = await db.sql
    .selectFrom('keys')
    .selectAll()
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row && toStoredKey(row)
}

/** Returns those of the given hashes that belong to a key valid at the given time. */
export async function findValidKeys(
  db: Queryable,
  hashes: readonly string[],
  { now }: { now: number },
): Promise<Set<string>> {
  const rows = await db.sql
    .selectFrom('keys')
    .select('hash')
    .where('hash', 'in', hashes)
    .where((key) => key.or([key('expires_at', 'is', null), key('expires_at', '>', now)]))
    .execute()
  return new Set(rows.map(({ hash }) => hash))
}

/** Returns whether any account but this one has a key. */
export async function hasOtherAccounts(db: Queryable, account: string): Promise<boolean> {
  const row = await db.sql
    .selectFrom('keys')
    .select('account')
    .where('account', '!=', account)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Finds the key that begins with `prefix`. */
export async function findKeyByPrefix(
  db: Queryable,
  prefix: string,
): Promise<StoredKey | undefined> {
  const row = await db.sql
    .selectFrom('keys')
    .selectAll()
    .where('prefix', '=', prefix)
    .executeTakeFirst()
  return row && toStoredKey(row)
}

/** Returns the keys of one account, or of all, oldest first. */
export async function listKeys(
  db: Queryable,
  { account }: { account?: string | undefined } = {},
): Promise<StoredKey[]> {
  const rows = await db.sql
    .selectFrom('keys')
    .selectAll()
    .$if(account !== undefined, (query) => query.where('account', '=', account!))
    .orderBy('created_at')
    .orderBy('prefix')
    .execute()
  return rows.map(toStoredKey)
}

/**
 * Returns how many keys there are, of one account or of all; none means that this is the first
 * start.
 */
export async function countKeys(
  db: Queryable,
  { account }: { account?: string | undefined } = {},
): Promise<number> {
  const { count } = await db.sql
    .selectFrom('keys')
    .select((query) => query.fn.countAll<number>().as('count'))
    .$if(account !== undefined, (query) => query.where('account', '=', account!))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Records when a key was last used; a key deleted meanwhile stays deleted. */
export async function recordKeyUse(
  db: Queryable,
  { hash, at }: { hash: string; at: number },
): Promise<void> {
  await db.sql.updateTable('keys').set({ last_used_at: at }).where('hash', '=', hash).execute()
}

/**
 * Deletes the key that begins with `prefix`, and records in the audit log who did it. Returns false
 * if there is no such key.
 */
export function deleteKey(
  db: Queryable,
  prefix: string,
  by: Actor = { source: 'server' },
): Promise<boolean> {
  return runInTransaction(db, async (tx) => {
    const deleted = await tx.sql
      .deleteFrom('keys')
      .where('prefix', '=', prefix)
      .returning('account')
      .executeTakeFirst()
    if (!deleted) return false
    const { account } = deleted
    await recordAudit(tx, { action: 'key.revoked', account, subject: prefix }, by)
    return true
  })
}

function toStoredKey(row: Selectable<KeyRow>): StoredKey {
  const { hash, account, prefix, name } = row
  return {
    hash,
    account,
    prefix,
    name,
    scopes: row.scopes.split(',') as Scope[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  }
}
