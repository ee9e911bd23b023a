import { randomBytes } from 'node:crypto'
import { sha256 } from '../api/auth.ts'
import type { App } from '../app.ts'
import { countKeys, insertKey } from '../storage/keys.ts'

/** The account of the key that the first start makes. */
export const FIRST_ACCOUNT = 'default'

/**
 * Makes a key when there is none at all, neither stored nor configured, and resolves to it: the only
 * moment at which it can be shown, as only its hash is kept. It carries 256 random bits.
 */
export async function createFirstKey({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): Promise<string | undefined> {
  if (config.keys.length > 0 || (await countKeys(db)) > 0) return undefined
  const key = `steno_${randomBytes(32).toString('base64url')}`
  const hash = sha256(key).toString('hex')
  const prefix = key.slice(0, 'steno_'.length + 4)
  await insertKey(db, { hash, account: FIRST_ACCOUNT, prefix, createdAt: Date.now() })
  return key
}
