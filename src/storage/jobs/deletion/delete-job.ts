import { sql } from 'kysely'
import { type Actor, recordAudit } from '../../accounts/audit-log.ts'
import type { Db } from '../../database/db.ts'
import type { JobRow } from '../../database/tables.ts'
import { deleteJobDeliveries } from '../../deliveries/deliveries.ts'
import { recordSessionEnd } from '../../live/session-tokens.ts'
import { deleteRecordingWithoutJobs } from '../../recordings/recordings.ts'
import type { JobRef } from '../jobs.ts'
import { metadataTokens } from '../lists/metadata-tokens.ts'
import { deleteSharesOfJob } from '../shares.ts'
import { deleteTranscriptEdits } from '../transcript-edits.ts'

/**
 * The objects that lost their last row, which the caller must delete, and whether no trace of the
 * job may remain.
 */
export type DeletedJob = { objects: string[]; zeroRetention: boolean }

/**
 * Deletes a job that has ended, with its deliveries, corrections and links, and its file unless
 * another job uses it, and records in the audit log who did it. Returns undefined if there is no
 * such job or it has not ended. The deleting statement itself checks the status.
 */
export async function deleteEndedJob(
  tx: Db,
  { id, account, kind }: JobRef,
  by: Actor = { source: 'retention' },
): Promise<DeletedJob | undefined> {
  const { rows } = await sql<JobRow>`
    delete from jobs
    where id = ${id} and account = ${account} and (status = 'done' or status = 'error')
      and kind = ${kind ?? sql.ref('kind')}
    returning *`.execute(tx.sql)
  const job = rows[0]
  if (!job) return undefined
  const details = { kind: job.kind, created_at: new Date(job.created_at).toISOString() }
  await recordAudit(tx, { action: 'job.deleted', account, subject: id, details }, by)
  await deleteMetadataTokens(tx, job)
  await deleteTranscriptEdits(tx, id)
  await deleteSharesOfJob(tx, id)
  if (job.kind === 'live') await recordSessionEnd(tx, { id, at: job.completed_at! })
  const { objects } = await deleteJobDeliveries(tx, id)
  if (job.result_object) objects.push(job.result_object)
  if (job.redacted_object) objects.push(job.redacted_object)
  if (job.file_id && (await deleteRecordingWithoutJobs(tx, job.file_id))) objects.push(job.file_id)
  return { objects, zeroRetention: job.zero_retention === 1 }
}

async function deleteMetadataTokens(tx: Db, job: JobRow): Promise<void> {
  if (job.custom_metadata === null) return
  const tokens = metadataTokens(job.account, JSON.parse(job.custom_metadata))
  if (tokens.length === 0) return
  await sql`delete from job_metadata
    where token in (${sql.join(tokens)})
      and created_at = ${job.created_at} and id = ${job.id}`.execute(tx.sql)
}
