import type { Log } from '../../../observability/log.ts'
import { measureOldResults } from '../../accounts/account-bytes.ts'
import type { Db } from '../../database/db.ts'
import { findActiveNodes } from '../../database/nodes/register-node.ts'
import type { ActiveNodes } from '../object-store.ts'
import { findAwaitedObjects, listEarlierObjects, removeOrphanObjects } from './orphan-objects.ts'
import type { Orphans } from './orphans.ts'

/** The dependencies of a sweep, and the signal that stops it. */
export type SweepOptions = {
  db: Db
  log: Log
  orphans: Orphans | undefined
  signal: AbortSignal
}

/**
 * Starts to remove the remains of dead processes: unfinished writes and unreferenced objects.
 * Resolves when no write of this process can collide with those of dead ones; `done` resolves when
 * everything is moved. `isAlone` means that no other process is alive, so all of it is from dead
 * processes.
 */
export async function beginSweep(
  options: SweepOptions,
  { isAlone }: { isAlone: boolean },
): Promise<{ done: Promise<void> }> {
  const { db } = options
  const activeNodes = await findActiveNodes(db)
  const { clockMarginMs } = db.objects
  // Listing a bucket takes minutes, too, so in a bucket the age of an object shows that a dead
  // process left it.
  if (clockMarginMs !== undefined) {
    const before = activeNodes.since - clockMarginMs
    return { done: finishSweep(options, () => sweepByTime({ ...options, before }, activeNodes)) }
  }
  await db.objects.removeUnfinished(activeNodes)
  const sweepOptions = { ...options, before: isAlone ? undefined : activeNodes.since }
  const earlier = await listEarlierObjects(db, sweepOptions)
  // This runs in the background, because looking up millions of objects on a slow disk takes
  // minutes.
  return { done: finishSweep(options, () => removeOrphanObjects(db, earlier, sweepOptions)) }
}

/**
 * Removes the remains of processes that died shortly before this one started and were still
 * considered alive.
 */
export async function removeUnfinished({ db }: Pick<SweepOptions, 'db'>): Promise<void> {
  await db.objects.removeUnfinished(await findActiveNodes(db))
}

async function sweepByTime(
  options: SweepOptions & { before: number },
  activeNodes: ActiveNodes,
): Promise<number> {
  const { db, signal } = options
  await db.objects.removeUnfinished(activeNodes)
  let removed = 0
  for await (const ids of db.objects.list()) {
    if (signal.aborted) break
    const awaited = await findAwaitedObjects(db, ids)
    removed += await removeOrphanObjects(db, [ids.filter((id) => !awaited.has(id))], options)
  }
  return removed
}

async function finishSweep(options: SweepOptions, remove: () => Promise<number>): Promise<void> {
  const { db, log, orphans, signal } = options
  try {
    const removed = await remove()
    const msg = orphans
      ? 'moved objects that nothing refers to'
      : 'removed objects that nothing refers to'
    if (removed > 0) log.warn({ removed, ...(orphans && { to: 'orphans' }) }, msg)
    const measured = await measureOldResults(db, { signal })
    if (measured > 0) log.info({ measured }, 'recorded the sizes of results')
  } catch (error) {
    log.error({ err: error }, 'cannot remove orphaned objects')
  }
}
