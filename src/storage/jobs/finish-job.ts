import { sql, type UpdateObject } from 'kysely'
import { type JobUsage, recordJobUsage, usageColumns } from '../accounts/usage/usage.ts'
import { type Db, inTransaction } from '../database/db.ts'
import type { Tables } from '../database/tables.ts'
import { endedJobColumns, queueJobEnd } from '../deliveries/queue-deliveries.ts'
import { deleteRecordingWithoutJobs } from '../recordings/recordings.ts'
import { idleColumns, type Lease, updateLeasedJob } from './queue/lease.ts'
import { type RedactedAudio, redactedColumns } from './redacted-audio.ts'
import { commitOrDelete, deleteResultObject, storeResult, type WrittenResult } from './results.ts'

/** The result with which a job ends. A redacted recording replaces the original. */
export type JobEnd = {
  result: WrittenResult
  redactedAudio?: RedactedAudio | undefined
  /** Whether the job and its data is deleted after its result has been delivered. */
  zeroRetention?: boolean
  usage?: JobUsage | undefined
  at: number
}

/**
 * Ends a job with its result, queues the notifications and counts what it used, in one
 * transaction. With a redacted recording, also deletes the file row of the original unless another
 * job uses it. Returns false, and changes nothing, if the lease was lost.
 */
export async function finishJob(
  db: Db,
  lease: Lease,
  { result, redactedAudio, zeroRetention = false, usage, at }: JobEnd,
): Promise<boolean> {
  const stored = await storeResult(db, result, { isErasable: zeroRetention })
  const redacted = redactedAudio && redactedColumns(redactedAudio)
  const change = { ...stored, ...redacted, status: 'done' as const }
  return commitOrDelete(
    db,
    () => endJob(db, lease, { change, usage, at }),
    () => deleteResultObject(db, stored),
  )
}

/**
 * Returns whether a job has ended with this status under a lease: an earlier attempt to end it
 * succeeded, but its response was lost.
 */
export async function hasEnded(
  db: Db,
  { id, epoch }: Lease,
  status: 'done' | 'error',
): Promise<boolean> {
  const job = await db.sql
    .selectFrom('jobs')
    .select('status')
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch)
    .executeTakeFirst()
  return job?.status === status
}

/** Why a job failed, for its client. `reason` is for programs. */
export type JobFailure = { code: number; message: string; reason?: 'cancelled' }

/** Ends a job with the reason why it failed, in one transaction under the lease. */
export async function failJob(
  db: Db,
  lease: Lease,
  { failure, at }: { failure: JobFailure; at: number },
): Promise<boolean> {
  const change = {
    status: 'error' as const,
    error_code: failure.code,
    post_session_metadata: JSON.stringify({ failure }),
  }
  return endJob(db, lease, { change, at })
}

type JobChange = UpdateObject<Tables, 'jobs', 'jobs'>

function endJob(
  db: Db,
  lease: Lease,
  { change, usage, at }: { change: JobChange; usage?: JobUsage | undefined; at: number },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const job = await updateLeasedJob(tx, lease)
      .set({ ...endedColumns(at), ...change })
      .returning([...endedJobColumns, ...usageColumns, 'file_id', 'redacted_object'])
      .executeTakeFirst()
    if (!job) return false
    if (job.redacted_object) await deleteRecordingWithoutJobs(tx, job.file_id!)
    await queueJobEnd(tx, job, { at })
    await recordJobUsage(tx, job, usage)
    return true
  })
}

/**
 * The columns of an ended job. The creation time of a job in a burst may be slightly ahead of the
 * clock, but a job never ends before it begins.
 */
export function endedColumns(at: number) {
  const latest = sql<number>`case when created_at > ${at} then created_at else ${at} end`
  return { ...idleColumns, completed_at: latest }
}
