import type { Log } from '../../log.ts'
import type { Db } from '../../storage/db.ts'
import { noteKeyUse, type StoredKey } from '../../storage/keys.ts'

/** People ask on which day a key was used last; a write for each request would cost a sync of the disk. */
const NOTE_EVERY_MS = 60_000

/**
 * Makes what notes that a key is used: at most once a minute, and behind the back of the request,
 * which neither waits for it nor fails with it.
 */
export function createKeyUse({ db, log }: { db: Db; log: Log }) {
  /** When each key was noted by this process, also if that failed; there are as few as there are keys. */
  const noted = new Map<string, number>()
  return ({ hash, lastUsedAt }: StoredKey, at: number): void => {
    if (at - (noted.get(hash) ?? lastUsedAt ?? 0) < NOTE_EVERY_MS) return
    noted.set(hash, at)
    noteKeyUse(db, { hash, at }).catch((err) => log.warn({ err }, 'use of a key not noted'))
  }
}
