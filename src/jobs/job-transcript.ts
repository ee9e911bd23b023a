import { AppError } from '../errors.ts'
import { findJob, type JobId } from '../storage/jobs/jobs.ts'
import { readResult } from '../storage/jobs/results.ts'
import type { TranscriptForm } from '../text/result/transcript-file.ts'
import type { PipelineTools } from './pipeline-tools.ts'

/** Writes the stored words of a finished job or session as a file. */
export async function writeJobTranscript(
  { db, resultBuilder }: Pick<PipelineTools, 'db' | 'resultBuilder'>,
  id: JobId,
  { signal, ...form }: TranscriptForm & { signal: AbortSignal },
): Promise<string | Uint8Array> {
  const job = await findJob(db, id)
  if (!job) throw new AppError('job_not_found', id.id)
  if (job.status !== 'done' || !job.result) {
    throw new AppError('job_not_done', `it is ${job.status}`)
  }
  const result = await readResult(db, job.result)
  if (result === undefined) throw new AppError('job_not_found', id.id)
  const options = { account: id.account, signal }
  const written = await resultBuilder.transcript({ result, ...form }, options)
  if (typeof written === 'string' || written instanceof Uint8Array) return written
  throw new AppError('feature_not_configured', written.problem)
}
