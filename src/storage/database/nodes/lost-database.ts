import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../db.ts'

/** A database that has not responded for this time is lost to a process that stops. */
const LOST_MS = 5000
/** The pause after a response, and after an error. */
const PAUSE_MS = 250

/** How long a database may be silent, and what ends the watch. */
export type LostDatabaseOptions = { signal: AbortSignal; lostMs?: number }

/**
 * Resolves to true once a shared database has not responded for some seconds, and to false when
 * `signal` aborts. A process that stops need not wait for it: another one finishes its work when
 * its leases have expired, as after a crash.
 */
export async function isDatabaseLost(
  db: Pick<Db, 'sql' | 'isShared'>,
  { signal, lostMs = LOST_MS }: LostDatabaseOptions,
): Promise<boolean> {
  let respondedAt = performance.now()
  try {
    for (;;) {
      const silentMs = performance.now() - respondedAt
      if (silentMs >= lostMs) return true
      const responds = sql`select 1`.execute(db.sql).then(
        () => true,
        () => false,
      )
      const isThere = await Promise.race([responds, delay(lostMs - silentMs, false, { signal })])
      if (isThere) respondedAt = performance.now()
      await delay(PAUSE_MS, undefined, { signal })
    }
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}
