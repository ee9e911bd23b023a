import { DAY_MS } from '../../../clock.ts'
import type { Db } from '../../database/db.ts'
import type { JobRow } from '../../database/tables.ts'

/** Tokens that language models used, as their providers count them. */
export type LlmUsage = { requests: number; prompt_tokens: number; completion_tokens: number }

/**
 * What a job used: seconds of audio, these seconds times the number of distinct channels, and
 * tokens.
 */
export type JobUsage = {
  audioSeconds: number
  channelSeconds: number
  llm?: LlmUsage | undefined
}

/** The columns of a job that has just ended. */
export type UsageJob = Pick<
  JobRow,
  'account' | 'kind' | 'key_id' | 'status' | 'request_params' | 'completed_at'
>

/** The columns that `UsageJob` is read from. */
export const usageColumns = [
  'account',
  'kind',
  'key_id',
  'status',
  'request_params',
  'completed_at',
] as const satisfies (keyof JobRow)[]

/** Prefixes the measure that counts the jobs with an add-on. */
export const ADD_ON_PREFIX = 'add-on '

/** Times are stored in microseconds: sums of integers are exact. */
export const MICROSECONDS_PER_SECOND = 1e6

/**
 * Counts a job that ends, in the transaction that ends it: exactly once, whatever happens to the
 * server. Of a failed job, the add-ons do not count; everything else does.
 */
export function recordJobUsage(tx: Db, job: UsageJob, used?: JobUsage): Promise<void> {
  const isDone = job.status === 'done'
  const amounts = new Map([[isDone ? 'jobs' : 'failed_jobs', 1]])
  if (used) {
    amounts.set('audio_microseconds', Math.round(used.audioSeconds * MICROSECONDS_PER_SECOND))
    amounts.set('channel_microseconds', Math.round(used.channelSeconds * MICROSECONDS_PER_SECOND))
  }
  for (const [name, amount] of llmAmounts(used?.llm)) amounts.set(name, amount)
  const addOns = isDone ? requestedAddOns(job.request_params) : []
  for (const name of addOns) amounts.set(`${ADD_ON_PREFIX}${name}`, 1)
  return addUsageAmounts(tx, { ...job, at: job.completed_at! }, amounts)
}

/**
 * Counts the tokens that a language model used after the end of a job, for an add-on that is
 * retried.
 */
export function recordTokenUsage(
  tx: Db,
  job: Pick<UsageJob, 'account' | 'kind' | 'key_id'> & { at: number },
  llm: LlmUsage,
): Promise<void> {
  return addUsageAmounts(tx, job, new Map(llmAmounts(llm)))
}

function llmAmounts(llm: LlmUsage | undefined): [string, number][] {
  if (!llm) return []
  return [
    ['llm_requests', llm.requests],
    ['prompt_tokens', llm.prompt_tokens],
    ['completion_tokens', llm.completion_tokens],
  ]
}

/** Returns the options that a request turned on; those of a session are in groups. */
function requestedAddOns(requestParams: string | null): string[] {
  const params = JSON.parse(requestParams ?? '{}') as Record<string, unknown>
  const { realtime_processing, post_processing } = params
  return [params, realtime_processing, post_processing].flatMap((group) => {
    const options = Object.entries(group ?? {})
    return options.flatMap(([name, value]) => (value === true && name !== 'callback' ? name : []))
  })
}

type UsageGroupFields = Pick<UsageJob, 'account' | 'kind' | 'key_id'> & { at: number }

async function addUsageAmounts(
  tx: Db,
  { account, kind, key_id, at }: UsageGroupFields,
  amounts: ReadonlyMap<string, number>,
): Promise<void> {
  const day = startOfDay(at)
  const groupFields = { account, kind, key_id: key_id ?? '', day }
  // Always in the same order, so that transactions of several nodes do not deadlock.
  const rows = [...amounts]
    .filter(([, amount]) => amount > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([measure, amount]) => ({ ...groupFields, measure, amount }))
  if (rows.length === 0) return
  await tx.sql
    .insertInto('usage')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['account', 'measure', 'day', 'key_id', 'kind'])
        .doUpdateSet(({ eb, ref }) => ({
          amount: eb(ref('usage.amount'), '+', ref('excluded.amount')),
        })),
    )
    .execute()
}

/** Returns the midnight in UTC before a time, in milliseconds since 1970. */
export function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS
}
