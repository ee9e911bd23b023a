import { randomBytes } from 'node:crypto'
import { wallNow } from '../../clock.ts'
import type { Actor } from '../../storage/accounts/audit-log.ts'
import { insertKey, type NewKey } from '../../storage/accounts/keys.ts'
import type { Db } from '../../storage/database/db.ts'
import { sha256 } from './find-key.ts'

/** Tells people, and scanners for leaked secrets, that a text is a key. */
const KEY_PREFIX = 'steno_'
/** Enough characters that no two keys begin with the same ones; 208 random bits stay secret. */
const SHOWN_LETTERS = 8

/**
 * Creates a key of 256 random bits, stores its hash, and resolves to the key and its id. The key
 * cannot be shown again later.
 */
export async function generateKey(
  db: Pick<Db, 'sql'>,
  options: Omit<NewKey, 'hash' | 'prefix' | 'createdAt'>,
  by?: Actor,
): Promise<{ key: string; id: string }> {
  const key = `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`
  const id = key.slice(0, KEY_PREFIX.length + SHOWN_LETTERS)
  const hash = sha256(key).toString('hex')
  await insertKey(db, { ...options, hash, prefix: id, createdAt: wallNow() }, by)
  return { key, id }
}
