import type { Log } from '../../observability/log.ts'
import { recordKeyUse, type StoredKey } from '../../storage/accounts/keys.ts'
import type { Db } from '../../storage/database/db.ts'

/**
 * Users want to know the day on which a key was last used; a write for each request would cost a
 * disk sync.
 */
const NOTE_EVERY_MS = 60_000

/**
 * Creates a function that records the use of a key: at most once a minute, and in the background of
 * the request, which neither waits for it nor fails with it.
 */
export function createKeyUse({ db, log }: { db: Db; log: Log }) {
  /**
   * When this process last recorded each key, even if that failed; there are as few entries as
   * keys.
   */
  const noted = new Map<string, number>()
  return ({ hash, lastUsedAt }: StoredKey, at: number): void => {
    if (at - (noted.get(hash) ?? lastUsedAt ?? 0) < NOTE_EVERY_MS) return
    noted.set(hash, at)
    recordKeyUse(db, { hash, at }).catch((err) =>
      log.warn({ err }, 'cannot record the use of a key'),
    )
  }
}
