import type { Config } from '../config.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import { findJob, type Job, type JobId } from '../storage/jobs/jobs.ts'
import { readResult, replaceResult, type StoredResult } from '../storage/jobs/results.ts'
import type { ResultBuilder } from '../text/result/result-builder.ts'

/** The dependencies of a retry. */
export type RetryTools = {
  db: Db
  resultBuilder: Pick<ResultBuilder, 'retry'>
  config: Pick<Config, 'addOnResults'>
}

/** An add-on of a job, named by the switch that enables it. */
export type JobAddOn = JobId & { name: string }

const refusals = {
  unknown: 'add_on_not_found',
  unrepeatable: 'add_on_not_repeatable',
  'not-requested': 'add_on_not_requested',
  succeeded: 'add_on_succeeded',
} as const satisfies Record<string, ErrorCode>

/**
 * Retries a failed add-on of a finished job, using the words of the stored result, and writes the
 * outcome there. Returns its JSON text. If another writer changes the result meanwhile, that write
 * wins and the add-on is built again from the new result, so no change is lost. Fails with
 * `job_not_found`, `job_not_done` or one of `add_on_…`.
 */
export async function retryAddOn(
  { db, resultBuilder, config }: RetryTools,
  { name, ...id }: JobAddOn,
  { signal }: { signal: AbortSignal },
): Promise<string> {
  const form = config.addOnResults
  for (let missing: string | undefined; ; ) {
    signal.throwIfAborted()
    const job = await findDone(db, id)
    const result = await readResult(db, job.result)
    if (result === undefined) {
      // Only an object can disappear: either another one has replaced it, or none ever will.
      const { object } = job.result as { object: string }
      if (object === missing) throw new AppError('storage_unreadable', 'the result is gone')
      missing = object
      continue
    }
    const params = job.requestParams ?? '{}'
    const options = { account: id.account, signal }
    const made = await resultBuilder.retry({ name, result, params, form }, options)
    if (made.outcome !== 'made') throw refusal(made.outcome, name)
    if (await replaceResult(db, { jobId: job.id, stored: job.result }, made.result)) {
      return made.answer
    }
  }
}

type DoneJob = Job & { result: StoredResult }

async function findDone(db: Db, id: JobId): Promise<DoneJob> {
  const job = await findJob(db, id)
  if (!job) throw new AppError('job_not_found', id.id)
  const { result } = job
  if (job.status !== 'done' || !result) throw new AppError('job_not_done', `it is ${job.status}`)
  return { ...job, result }
}

function refusal(outcome: keyof typeof refusals, name: string): AppError {
  const remedy = outcome === 'unrepeatable' ? '; create the job again to recognize it anew' : ''
  return new AppError(refusals[outcome], `${name}${remedy}`)
}
