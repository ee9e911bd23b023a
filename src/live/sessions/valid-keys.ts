import { createHash } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { Db } from '../../storage/db.ts'
import { findValidKeys, hasOtherAccounts } from '../../storage/keys.ts'

/** What is known of the keys by which sessions were made. */
export type ValidKeys = {
  /** Those of the hashes that belong to a key no more: it was revoked, or has expired. */
  findGone(hashes: readonly string[]): Promise<Set<string>>
  /** Whether no other account has a key. */
  isAlone(account: string): Promise<boolean>
}

/** Keys come from the configuration and from the store, which is asked each time. */
export function createValidKeys(db: Db, configured: Config['keys']): ValidKeys {
  const hashes = new Set(configured.map(({ key }) => hashOf(key)))
  return {
    async findGone(asked) {
      const stored = asked.filter((hash) => !hashes.has(hash))
      if (stored.length === 0) return new Set()
      const valid = await findValidKeys(db, stored, { now: Date.now() })
      return new Set(stored.filter((hash) => !valid.has(hash)))
    },
    async isAlone(account) {
      if (configured.some((key) => key.account !== account)) return false
      return !(await hasOtherAccounts(db, account))
    },
  }
}

/** As keys are stored: the SHA-256 in hex. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
