import { AppError } from '../../errors.ts'
import type { Db } from '../../storage/database/db.ts'
import { findJob, type Job, type JobRef } from '../../storage/jobs/jobs.ts'
import type { ResultLocation } from '../../storage/jobs/results.ts'

/** A finished job. */
export type DoneJob = Job & { result: ResultLocation }

/** Finds a job that has a result; fails with `job_not_found` or `job_not_done`. */
export async function findDoneJob(db: Db, ref: JobRef): Promise<DoneJob> {
  const job = await findJob(db, ref)
  if (!job) throw new AppError('job_not_found', ref.id)
  const { result } = job
  if (job.status !== 'done' || !result) throw new AppError('job_not_done', `it is ${job.status}`)
  return { ...job, result }
}
