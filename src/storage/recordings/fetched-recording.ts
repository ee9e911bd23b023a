import { type Db, inTransaction } from '../database/db.ts'
import { type Lease, updateLeasedJob } from '../jobs/queue/lease.ts'
import { insertRecording, type StoredRecording } from './recordings.ts'

/** The properties of a recording's audio: seconds, and the number of channels. */
export type MediaProperties = { duration: number; channels: number }

/**
 * Corrects a job's information about its recording, which until then came from the file header
 * alone.
 */
export async function saveMediaProperties(
  db: Db,
  lease: Lease,
  audio: MediaProperties,
): Promise<void> {
  await updateLeasedJob(db, lease)
    .set({ file_duration: audio.duration, file_channels: audio.channels })
    .execute()
}

/**
 * Stores a fetched recording as the file of its job: the file row appears and the job gets its
 * length in one transaction. Returns false, and changes nothing, if the lease was lost.
 */
export function saveFetchedRecording(
  db: Db,
  lease: Lease,
  file: StoredRecording,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const result = await updateLeasedJob(tx, lease)
      .where('file_id', '=', file.id)
      .set({ file_duration: file.duration, file_channels: file.channels })
      .executeTakeFirst()
    if (result.numUpdatedRows !== 1n) return false
    await insertRecording(tx, file)
    return true
  })
}
