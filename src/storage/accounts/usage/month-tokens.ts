import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { monthOf } from './audio-quota.ts'

/** The tokens that language models used for an account this month. */
export type MonthTokens = {
  /** Prompt and completion tokens of ended jobs and sessions. */
  used: number
  /**
   * Those of the given jobs and sessions that have not ended. Their tokens are not in `used` yet.
   */
  active: ReadonlySet<string>
  /** When the next month begins, in milliseconds since 1970. */
  resetsAt: number
}

/** An id that no job has: the list of an SQL `in` must not be empty. */
const NO_JOB = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the tokens that an account used in the UTC month of `now`, and which of the given jobs
 * have not ended.
 */
export async function readMonthTokens(
  { sql: db }: Pick<Db, 'sql'>,
  { account, jobs, now }: { account: string; jobs: readonly string[]; now: number },
): Promise<MonthTokens> {
  const { start, end } = monthOf(now)
  // This is one statement, so a job that ends meanwhile counts in exactly one of the two parts.
  const { rows } = await sql<{ used: number | null; id: string | null }>`
    select sum(amount) as used, null as id from usage where account = ${account}
      and measure in ('prompt_tokens', 'completion_tokens') and day >= ${start} and day < ${end}
    union all
    select null as used, id from jobs
      where id in (${sql.join(jobs.length > 0 ? jobs : [NO_JOB])})
      and (status = 'queued' or status = 'processing')`.execute(db)
  const active = rows.flatMap(({ id }) => id ?? [])
  const used = rows.reduce((sum, row) => sum + Number(row.used ?? 0), 0)
  return { used, active: new Set(active), resetsAt: end }
}
