import { createHash } from 'node:crypto'
import { wallNow } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import { findValidKeys, hasOtherAccounts } from '../../storage/accounts/keys.ts'
import type { Db } from '../../storage/database/db.ts'

/** Looks up the keys that created sessions. */
export type ValidKeys = {
  /** Returns those of the hashes whose key was revoked or has expired. */
  findInvalid(hashes: readonly string[]): Promise<Set<string>>
  /** Returns whether no other account has a key. */
  isAlone(account: string): Promise<boolean>
}

/** Combines the keys from the configuration and from the store, which is queried each time. */
export function createValidKeys(db: Db, configured: Config['keys']): ValidKeys {
  const hashes = new Set(configured.map(({ key }) => hashOfKey(key)))
  return {
    async findInvalid(requested) {
      const stored = requested.filter((hash) => !hashes.has(hash))
      if (stored.length === 0) return new Set()
      const valid = await findValidKeys(db, stored, { now: wallNow() })
      return new Set(stored.filter((hash) => !valid.has(hash)))
    },
    async isAlone(account) {
      if (configured.some((key) => key.account !== account)) return false
      return !(await hasOtherAccounts(db, account))
    },
  }
}

/** Returns the hash in the form in which keys are stored: SHA-256 in hex. */
function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
