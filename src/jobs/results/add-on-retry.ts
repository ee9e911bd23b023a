import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import type { JobRef } from '../../storage/jobs/jobs.ts'
import { readResult, replaceResult } from '../../storage/jobs/results.ts'
import type { ResultBuilder } from '../../text/result/result-builder.ts'
import type { Retry, RetryResult } from '../../text/result/steps/retry-add-on.ts'
import { responseUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import { type Services, servedAddOns } from '../../text/service-add-ons/service-add-on.ts'
import { callServices, type ResponseStore } from '../pipeline/call-services.ts'
import { findDoneJob } from './done-job.ts'

/** The dependencies of a retry. */
export type RetryDeps = {
  db: Db
  resultBuilder: Pick<ResultBuilder, 'retry'>
  services?: Services | undefined
  config: Pick<Config, 'addOnResults'>
  log: Log
}

/** An add-on of a job, named by the switch that enables it. */
export type JobAddOn = JobRef & { name: string }

const refusals = {
  unknown: 'add_on_not_found',
  unrepeatable: 'add_on_not_repeatable',
  'not-requested': 'add_on_not_requested',
  succeeded: 'add_on_succeeded',
} as const satisfies Record<string, ErrorCode>

/**
 * Retries a failed add-on of a finished job with the words of the stored result, and stores the
 * outcome there. Returns the outcome as JSON text. If another writer changes the result meanwhile,
 * the add-on is built again from the new result, so that no change is lost. Fails with
 * `job_not_found`, `job_not_done` or one of `add_on_…`.
 */
export async function retryAddOn(
  deps: RetryDeps,
  { name, ...id }: JobAddOn,
  { signal }: { signal: AbortSignal },
): Promise<string> {
  const { db, config } = deps
  const format = config.addOnResults
  const responsesByKey = new Map<string, unknown>()
  for (let missing: string | undefined; ; ) {
    signal.throwIfAborted()
    const job = await findDoneJob(db, id)
    const result = await readResult(db, job.result)
    if (result === undefined) {
      // A result can disappear only from the object store: it was replaced by another object, or
      // deleted.
      const { object } = job.result as { object: string }
      if (object === missing) throw new AppError('storage_unreadable', 'the result is gone')
      missing = object
      continue
    }
    const params = job.requestParams ?? '{}'
    const options = {
      account: id.account,
      job: randomUUID(),
      signal,
      responses: createMemoryStore(responsesByKey),
    }
    const retried = await runRetry(deps, { name, result, params, format }, options)
    if (retried.outcome !== 'made') throw refusal(retried.outcome, name)
    const { llm } = retried
    if (await replaceResult(db, { jobId: job.id, stored: job.result }, retried.result, { llm })) {
      return retried.response
    }
  }
}

type RunRetryOptions = {
  account: string
  job: string
  signal: AbortSignal
  responses: ResponseStore
}

/** Retries an add-on, and calls the services that it needs. */
async function runRetry(
  { resultBuilder, services, log }: RetryDeps,
  retry: Retry,
  { responses, ...options }: RunRetryOptions,
): Promise<Exclude<RetryResult, { outcome: 'prepared' }> & { llm?: TokenUsage | undefined }> {
  const served = servedAddOns(services)
  const retried = await resultBuilder.retry({ ...retry, served }, options)
  if (retried.outcome !== 'prepared') return retried
  const [serviceResponses] = await callServices(services!, [retried.prepared], {
    ...options,
    responses,
    log,
  })
  const merged = await resultBuilder.retry({ ...retry, served, serviceResponses }, options)
  if (merged.outcome === 'prepared')
    throw new AppError('internal', 'the retry needs another answer of a service')
  return {
    ...merged,
    llm: responseUsage(
      serviceResponses && 'responses' in serviceResponses ? serviceResponses.responses : [],
    ),
  }
}

/**
 * Creates a store that keeps responses in memory, for another round after a change of the result.
 */
function createMemoryStore(responses: Map<string, unknown>): ResponseStore {
  return {
    find: (key) => responses.get(key),
    append: async (key, response) => void responses.set(key, response),
  }
}

function refusal(outcome: keyof typeof refusals, name: string): AppError {
  const remedy = outcome === 'unrepeatable' ? '; create the job again to recognize it anew' : ''
  return new AppError(refusals[outcome], `${name}${remedy}`)
}
