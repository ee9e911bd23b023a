import type { Log } from '../../log.ts'
import type { Db } from '../db.ts'
import { findOwners } from '../owners.ts'
import { measureOldResults } from '../space/account-bytes.ts'
import { listEarlierObjects, removeOrphanObjects } from './orphan-objects.ts'
import type { Orphans } from './orphans.ts'

/** What a sweep works on, and what stops it. */
export type SweepOptions = {
  db: Db
  log: Log
  orphans: Orphans | undefined
  signal: AbortSignal
}

/**
 * Begins to move away what dead processes left: unfinished writes, and objects that nothing refers
 * to. Resolves when no write of this process can collide with one of theirs; `done` resolves when
 * all is moved. With `isAlone`, all that is there was left by dead processes.
 */
export async function beginSweep(
  options: SweepOptions,
  { isAlone }: { isAlone: boolean },
): Promise<{ done: Promise<void> }> {
  const { db } = options
  const { ids: owners, since } = await findOwners(db)
  await db.objects.removeUnfinished({ owners, since })
  const before = isAlone ? undefined : since - (db.objects.clockMarginMs ?? 0)
  const given = { ...options, before }
  const earlier = await listEarlierObjects(db, given)
  // In the background: looking up every object takes minutes if there are millions on a slow disk.
  return { done: finishSweep(given, earlier) }
}

async function finishSweep(
  options: SweepOptions & { before: number | undefined },
  earlier: string[][],
): Promise<void> {
  const { db, log, orphans, signal } = options
  try {
    const removed = await removeOrphanObjects(db, earlier, options)
    const msg = orphans
      ? 'moved objects that nothing refers to'
      : 'removed objects that nothing refers to'
    if (removed > 0) log.warn({ removed, ...(orphans && { to: 'orphans' }) }, msg)
    const measured = await measureOldResults(db, { signal })
    if (measured > 0) log.info({ measured }, 'noted the sizes of results')
  } catch (error) {
    log.error({ err: error }, 'cannot remove objects that nothing refers to')
  }
}
