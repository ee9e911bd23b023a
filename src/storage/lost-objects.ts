import { sql } from 'kysely'
import type { Db } from './db.ts'
import { findKnownObjects } from './files.ts'

/**
 * Lists every object that an earlier process stored. None of them can get a row any more, so that those
 * without one may be deleted at leisure while this process stores others: ids are never used twice, but
 * for the recordings of jobs that have yet to be fetched or heard to their end, perhaps again, which are
 * deleted here and now.
 */
export async function listEarlierObjects(db: Db): Promise<string[][]> {
  const earlier = await Array.fromAsync(db.objects.list())
  const { rows } = await sql<{ id: string }>`
    select file_id as id from jobs
    where (status = 'queued' or status = 'processing')
      and (kind = 'live' or (kind = 'pre-recorded' and file_source is not null))
      and not exists (select 1 from files where files.id = jobs.file_id)`.execute(db.sql)
  const awaited = new Set(rows.map(({ id }) => id))
  for (const id of earlier.flat()) if (awaited.has(id)) await db.objects.delete(id)
  return earlier.map((ids) => ids.filter((id) => !awaited.has(id)))
}

/** Deletes those of some earlier objects that nothing refers to; returns how many. */
export async function deleteLostObjects(
  db: Db,
  earlier: readonly string[][],
  { signal }: { signal: AbortSignal },
): Promise<number> {
  let deleted = 0
  for (const ids of earlier) {
    if (signal.aborted) break
    const known = await findKnownObjects(db, ids)
    for (const id of ids) {
      if (known.has(id) || signal.aborted) continue
      await db.objects.delete(id)
      deleted++
    }
  }
  return deleted
}
