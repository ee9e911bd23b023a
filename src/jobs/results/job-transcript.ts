import { AppError } from '../../errors.ts'
import type { JobRef } from '../../storage/jobs/jobs.ts'
import { readResult } from '../../storage/jobs/results.ts'
import { findEditedSize, readTranscriptChanges } from '../../storage/jobs/transcript-edits.ts'
import type { TranscriptFormat } from '../../text/result/transcript-file.ts'
import type { PipelineDeps } from '../pipeline/pipeline-deps.ts'
import { findDoneJob } from './done-job.ts'

/**
 * Returns the transcript of a finished job or session as a file; with `isEdited`, it has the
 * corrections of users.
 */
export async function writeJobTranscript(
  { db, resultBuilder }: Pick<PipelineDeps, 'db' | 'resultBuilder'>,
  ref: JobRef,
  { signal, isEdited, ...format }: TranscriptFormat & { isEdited: boolean; signal: AbortSignal },
): Promise<string | Uint8Array> {
  const job = await findDoneJob(db, ref)
  const { version } = isEdited ? await findEditedSize(db, job.id) : { version: 0 }
  const edits = await readTranscriptChanges(db, job.id, version)
  const result = await readResult(db, job.result)
  if (result === undefined || edits === undefined) throw new AppError('job_not_found', ref.id)
  const options = { account: ref.account, signal }
  const written = await resultBuilder.transcript({ result, edits, ...format }, options)
  if (typeof written === 'string' || written instanceof Uint8Array) return written
  throw new AppError('feature_not_configured', written.problem)
}
