import { type Db, inTransaction } from './db.ts'
import { insertFile, type StoredFile } from './files.ts'
import { type Lease, whereHeld } from './lease.ts'

/**
 * Makes a fetched recording the file of its job: the file appears and the job learns its length in
 * one transaction. False, and no change, when the lease was lost.
 */
export function recordFetchedFile(db: Db, lease: Lease, file: StoredFile): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const result = await whereHeld(tx, lease)
      .where('file_id', '=', file.id)
      .set({ file_duration: file.duration, file_channels: file.channels })
      .executeTakeFirst()
    if (result.numUpdatedRows !== 1n) return false
    await insertFile(tx, file)
    return true
  })
}
