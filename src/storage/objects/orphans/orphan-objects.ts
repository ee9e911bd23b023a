import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { isAbandoned } from '../../database/nodes/register-node.ts'
import { findKnownObjects, findReleasedRecordings } from './known-objects.ts'
import type { Orphans } from './orphans.ts'

/**
 * The store to which unreferenced objects are moved, and which of them; without `orphans` they are
 * deleted.
 */
export type OrphanOptions = {
  orphans: Orphans | undefined
  /**
   * Only objects stored before this time, in milliseconds since 1970, are moved. A live process may
   * have stored newer ones and not have written their rows yet.
   */
  before?: number | undefined
  signal: AbortSignal
}

/**
 * Lists every object that a dead process may have stored. None of those can get a row any more, so
 * those without one may be moved later, while this process stores others. Ids are never reused,
 * except for the recordings of jobs that are still to be fetched or recognized to the end, possibly
 * again; these are moved immediately.
 */
export async function listEarlierObjects(db: Db, options: OrphanOptions): Promise<string[][]> {
  const earlier = await Array.fromAsync(db.objects.list())
  const { rows } = await sql<{ id: string }>`
    select file_id as id from jobs
    where (status = 'queued' or status = 'processing')
      and (kind = 'live' or (kind = 'pre-recorded' and file_source is not null))
      and not exists (select 1 from files where files.id = jobs.file_id)
      and ${isAbandoned}`.execute(db.sql)
  const awaited = new Set(rows.map(({ id }) => id))
  for (const id of earlier.flat()) {
    if (awaited.has(id)) await removeOne(db, id, options)
  }
  return earlier.map((ids) => ids.filter((id) => !awaited.has(id)))
}

/**
 * Returns which of these objects are recordings that a job still needs, so that a process may be
 * writing them.
 */
export async function findAwaitedObjects(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.sql
    .selectFrom('jobs')
    .select('file_id as id')
    .where('file_id', 'in', ids)
    .where('status', 'in', ['queued', 'processing'])
    .$narrowType<{ id: string }>()
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/**
 * Moves those of the given objects that no row refers to; returns how many. Recordings that their
 * jobs no longer need are deleted: the jobs still refer to them, so a restored older database
 * cannot be the reason.
 */
export async function removeOrphanObjects(
  db: Db,
  earlier: readonly string[][],
  options: OrphanOptions,
): Promise<number> {
  const { orphans, signal } = options
  let removed = 0
  for (const ids of earlier) {
    if (signal.aborted) break
    const knownIds = await findKnownObjects(db, ids)
    const lost = ids.filter((id) => !knownIds.has(id))
    const released = await findReleasedRecordings(db, lost)
    for (const id of lost) {
      if (signal.aborted) break
      const isKept = orphans && !released.has(id)
      if (await removeOne(db, id, isKept ? options : { ...options, orphans: undefined })) removed++
    }
    // A node that was paused and considered dead may have written a row in the meantime.
    for (const id of await findKnownObjects(db, lost)) await orphans?.restore(id)
  }
  return removed
}

/** Moves or deletes one object, unless it is too new; returns whether it did. */
async function removeOne(
  db: Db,
  id: string,
  { orphans, before, signal }: OrphanOptions,
): Promise<boolean> {
  if (before !== undefined) {
    const objectInfo = await db.objects.check(id).catch(() => undefined)
    if (!objectInfo || objectInfo.storedAt >= before) return false
  }
  await (orphans ? orphans.add(id, { signal }) : db.objects.delete(id))
  return true
}

/**
 * Moves back orphans that a row refers to again, because a newer database was restored; returns how
 * many.
 */
export async function restoreOrphanObjects(db: Db, orphans: Orphans): Promise<number> {
  let restoredCount = 0
  for await (const ids of orphans.list()) {
    for (const id of await findKnownObjects(db, ids)) {
      await orphans.restore(id)
      restoredCount++
    }
  }
  return restoredCount
}
