import { DAY_MS } from '../clock.ts'
import type { Log } from '../observability/log.ts'
import type { Db } from '../storage/database/db.ts'
import { deleteOldDeliveries } from '../storage/deliveries/deliveries.ts'
import { purgeCallbackEndpoints } from '../storage/deliveries/endpoints/purge-callback-endpoints.ts'
import type { Clock } from './system-clock.ts'

const INTERVAL_MS = 3_600_000

/** Options of the retention of the delivery log. */
export type LogRetentionOptions = {
  db: Db
  log: Log
  clock: Clock
  /** Days that ended deliveries are kept; 0 = as long as their job. */
  logDays: number
  /** Whether the system clock can be trusted right now. */
  mayDelete?: () => boolean
  signal: AbortSignal
}

/**
 * Deletes deliveries that ended more than `logDays` ago, with their attempts, and callback
 * endpoints that nothing refers to. Runs every hour until aborted.
 */
export async function trimDeliveryLog(options: LogRetentionOptions): Promise<void> {
  const { log, clock, signal, logDays } = options
  while (!signal.aborted) {
    const mayDelete = options.mayDelete?.() ?? true
    if (mayDelete && logDays > 0) {
      await deleteExpired(options).catch((error) =>
        log.error({ err: error }, 'cannot delete old deliveries'),
      )
    }
    if (mayDelete) {
      await deleteCallbackEndpoints(options).catch((error) => {
        log.error({ err: error }, 'cannot delete unused callback endpoints')
      })
    }
    await clock.sleep(INTERVAL_MS, signal)
  }
}

async function deleteExpired({
  db,
  log,
  clock,
  logDays,
  signal,
}: LogRetentionOptions): Promise<void> {
  const endedBefore = clock.now() - logDays * DAY_MS
  let count = 0
  while (!signal.aborted) {
    const { deleted, objects } = await deleteOldDeliveries(db, { endedBefore })
    await db.deletions.delete(objects, { signal })
    count += deleted
    if (deleted === 0) break
  }
  if (count > 0) log.info({ deleted: count }, 'deleted expired deliveries from the log')
}

async function deleteCallbackEndpoints({
  db,
  log,
  clock,
  signal,
}: LogRetentionOptions): Promise<void> {
  let count = 0
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const { deleted, last } = await purgeCallbackEndpoints(db, { after, now: clock.now() })
    count += deleted
    after = last
  }
  if (count > 0) log.info({ deleted: count }, 'deleted callback endpoints without deliveries')
}
