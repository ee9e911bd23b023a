import { sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { monthOf } from './month-quota.ts'

/** What language models took for an account this month. */
export type MonthTokens = {
  /** Prompt and completion tokens of ended jobs and sessions. */
  used: number
  /** Which of the given jobs and sessions have not ended: what they took is not in `used` yet. */
  open: ReadonlySet<string>
  /** When the next month begins, in milliseconds since 1970. */
  resetsAt: number
}

/** The list of a statement must not be empty. */
const NO_JOB = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the tokens of an account in the UTC month of a time, and which of some jobs still run.
 */
export async function readMonthTokens(
  { sql: db }: Pick<Db, 'sql'>,
  { account, jobs, now }: { account: string; jobs: readonly string[]; now: number },
): Promise<MonthTokens> {
  const { start, end } = monthOf(now)
  // One statement: a job that ends meanwhile is in exactly one of both.
  const { rows } = await sql<{ used: number | null; id: string | null }>`
    select sum(amount) as used, null as id from usage where account = ${account}
      and measure in ('prompt_tokens', 'completion_tokens') and day >= ${start} and day < ${end}
    union all
    select null as used, id from jobs
      where id in (${sql.join(jobs.length > 0 ? jobs : [NO_JOB])})
      and (status = 'queued' or status = 'processing')`.execute(db)
  const open = rows.flatMap(({ id }) => id ?? [])
  const used = rows.reduce((sum, row) => sum + Number(row.used ?? 0), 0)
  return { used, open: new Set(open), resetsAt: end }
}
