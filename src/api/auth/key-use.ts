import type { Log } from '../../observability/log.ts'
import { recordKeyUse, type StoredKey } from '../../storage/accounts/keys.ts'
import type { Db } from '../../storage/database/db.ts'

/**
 * The shortest interval between two records for one key: users need to know only the day, and each
 * write costs a disk sync.
 */
const RECORD_INTERVAL_MS = 60_000

/**
 * Creates a function that records the use of a key: at most once a minute, and in the background of
 * the request, which neither waits for it nor fails with it.
 */
export function createKeyUse({ db, log }: { db: Db; log: Log }) {
  /**
   * When this process last tried to record each key, in milliseconds. There is at most one entry
   * per key.
   */
  const recordedAt = new Map<string, number>()
  return ({ hash, lastUsedAt }: StoredKey, at: number): void => {
    if (at - (recordedAt.get(hash) ?? lastUsedAt ?? 0) < RECORD_INTERVAL_MS) return
    recordedAt.set(hash, at)
    recordKeyUse(db, { hash, at }).catch((err) =>
      log.warn({ err }, 'cannot record the use of a key'),
    )
  }
}
