import type { Db } from '../../database/db.ts'
import type { JobKind } from '../../jobs/jobs.ts'
import { ADD_ON_PREFIX, type LlmUsage, MICROSECONDS_PER_SECOND } from './usage.ts'

/** A field by which usage is grouped. */
export type UsageGroup = 'day' | 'key' | 'kind' | 'account'

/**
 * Selects the usage of one account or all, on the days from `from` up to `to` (UTC midnights; `to`
 * is excluded), and the fields by which it is grouped.
 */
export type UsageQuery = {
  /** Undefined means all accounts. */
  account: string | undefined
  from: number
  to: number
  by: readonly UsageGroup[]
}

/** The usage of one group; times are in seconds. The fields of the group identify it. */
export type UsageSum = {
  account?: string
  /** UTC midnight, in milliseconds since 1970. */
  day?: number
  /** The id of the key; null for jobs from before usage was counted. */
  key?: string | null
  kind?: JobKind
  jobs: number
  failedJobs: number
  audioSeconds: number
  channelSeconds: number
  /** The number of jobs with each add-on. */
  addOns: Record<string, number>
  llm: LlmUsage
}

const columns = { account: 'account', day: 'day', key: 'key_id', kind: 'kind' } as const

/**
 * Sums the usage of each group, in the order of the grouping fields. Without such fields there is
 * one sum, even if nothing was used.
 */
export async function reportUsage(
  { reader }: Pick<Db, 'reader'>,
  { account, from, to, by }: UsageQuery,
): Promise<UsageSum[]> {
  const grouping = by.map((name) => columns[name])
  let query = reader
    .selectFrom('usage')
    .select([...grouping, 'measure'])
    .select((row) => row.fn.sum<number>('amount').as('amount'))
    .where('day', '>=', from)
    .where('day', '<', to)
    .groupBy([...grouping, 'measure'])
  if (account !== undefined) query = query.where('account', '=', account)
  for (const name of [...grouping, 'measure'] as const) query = query.orderBy(name)
  const rows = (await query.execute()) as SumRow[]
  const sums = new Map<string, UsageSum>()
  if (by.length === 0) sums.set('[]', zeroSum({}))
  for (const row of rows) {
    const key = JSON.stringify(grouping.map((name) => row[name]))
    const sum = sums.get(key) ?? zeroSum(groupOf(row, by))
    sums.set(key, sum)
    addAmount(sum, row.measure, Number(row.amount))
  }
  return [...sums.values()]
}

type SumRow = {
  account?: string
  day?: number
  key_id?: string
  kind?: JobKind
  measure: string
  amount: number
}

type GroupColumns = Pick<UsageSum, UsageGroup>

function groupOf({ account, day, key_id, kind }: SumRow, by: readonly UsageGroup[]): GroupColumns {
  const fields = { account, day, key: key_id || null, kind }
  return Object.fromEntries(by.map((name) => [name, fields[name]]))
}

function zeroSum(group: GroupColumns): UsageSum {
  const llm = { requests: 0, prompt_tokens: 0, completion_tokens: 0 }
  const times = { audioSeconds: 0, channelSeconds: 0 }
  return { ...group, jobs: 0, failedJobs: 0, ...times, addOns: {}, llm }
}

function addAmount(sum: UsageSum, measure: string, amount: number): void {
  if (measure === 'jobs') sum.jobs += amount
  else if (measure === 'failed_jobs') sum.failedJobs += amount
  else if (measure === 'audio_microseconds') sum.audioSeconds += amount / MICROSECONDS_PER_SECOND
  else if (measure === 'channel_microseconds')
    sum.channelSeconds += amount / MICROSECONDS_PER_SECOND
  else if (measure === 'llm_requests') sum.llm.requests += amount
  else if (measure === 'prompt_tokens') sum.llm.prompt_tokens += amount
  else if (measure === 'completion_tokens') sum.llm.completion_tokens += amount
  else if (measure.startsWith(ADD_ON_PREFIX))
    sum.addOns[measure.slice(ADD_ON_PREFIX.length)] = amount
}
