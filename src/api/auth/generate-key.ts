import { randomBytes } from 'node:crypto'
import { wallNow } from '../../clock.ts'
import type { Actor } from '../../storage/accounts/audit-log.ts'
import { insertKey, type NewKey } from '../../storage/accounts/keys.ts'
import type { Db } from '../../storage/database/db.ts'
import { sha256 } from './check-key.ts'

/** Marks a text as a key, for people and for scanners that look for leaked secrets. */
const KEY_PREFIX = 'steno_'
/**
 * How many characters of the secret the id of a key has: enough that no two keys share an id, while
 * 208 random bits stay secret.
 */
const ID_CHARS = 8

/**
 * Creates a key of 256 random bits, stores its hash, and resolves to the key and its id. The key
 * cannot be shown again later.
 */
export async function generateKey(
  db: Pick<Db, 'sql'>,
  options: Omit<NewKey, 'hash' | 'prefix' | 'createdAt'>,
  actor?: Actor,
): Promise<{ key: string; id: string }> {
  const key = `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`
  const id = key.slice(0, KEY_PREFIX.length + ID_CHARS)
  const hash = sha256(key).toString('hex')
  await insertKey(db, { ...options, hash, prefix: id, createdAt: wallNow() }, actor)
  return { key, id }
}
