import { type Db, inTransaction } from '../db.ts'
import { type Lease, whereLeased } from '../jobs/lease.ts'
import { insertFile, type StoredFile } from './files.ts'

/** What is known of a recording's sound: seconds, and how many channels. */
export type MediaProperties = { duration: number; channels: number }

/** Corrects what a job says of its recording, which until then was read from its header alone. */
export async function recordMedia(db: Db, lease: Lease, sound: MediaProperties): Promise<void> {
  await whereLeased(db, lease)
    .set({ file_duration: sound.duration, file_channels: sound.channels })
    .execute()
}

/**
 * Makes a fetched recording the file of its job: the file appears and the job learns its length in
 * one transaction. False, and no change, when the lease was lost.
 */
export function recordFetchedFile(db: Db, lease: Lease, file: StoredFile): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const result = await whereLeased(tx, lease)
      .where('file_id', '=', file.id)
      .set({ file_duration: file.duration, file_channels: file.channels })
      .executeTakeFirst()
    if (result.numUpdatedRows !== 1n) return false
    await insertFile(tx, file)
    return true
  })
}
