import { sql } from 'kysely'
import { AppError } from '../../../errors.ts'
import type { Db } from '../../database/db.ts'
import { MICROSECONDS_PER_SECOND } from './usage.ts'

/** What an account used this month, in seconds of audio times channels. */
export type MonthUsage = {
  used: number
  /** Expected use of jobs and sessions that have not ended, as far as it is known. */
  inProgress: number
  /** When the next month begins, in milliseconds since 1970. */
  resetsAt: number
}

/** A recording whose length is not known yet counts as this long, in seconds. */
const UNKNOWN_SECONDS = 600

/**
 * Returns what an account used in the UTC month of a time, and what its work in progress will
 * use: of a recording, its length on all channels; of a session, the time since its creation.
 */
export async function readMonthUsage(
  { sql: db }: Pick<Db, 'sql'>,
  { account, now }: { account: string; now: number },
): Promise<MonthUsage> {
  const { start, end } = monthOf(now)
  const isActive = sql`(status = 'queued' or status = 'processing')`
  const { rows } = await sql<{ used: number; recorded: number; live: number }>`
    select
      coalesce((select sum(amount) from usage where account = ${account}
        and measure = 'channel_microseconds' and day >= ${start} and day < ${end}), 0) as used,
      coalesce((select sum(coalesce(file_duration, ${UNKNOWN_SECONDS}) * coalesce(file_channels, 1))
        from jobs where kind = 'pre-recorded' and ${isActive} and account = ${account}), 0)
        as recorded,
      coalesce((select sum(case when created_at < ${now}
          then (${now} - created_at) * coalesce(file_channels, 1) else 0 end)
        from jobs where kind = 'live' and ${isActive} and account = ${account}), 0) as live
    `.execute(db)
  const { used, recorded, live } = rows[0]!
  const inProgress = Number(recorded) + Number(live) / 1000
  return { used: Number(used) / MICROSECONDS_PER_SECOND, inProgress, resetsAt: end }
}

/** Returns the bounds of the UTC month of a time, in milliseconds since 1970. */
export function monthOf(at: number): { start: number; end: number } {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
}

/** New work of an account and what it is known to use, in seconds. */
export type QuotaQuery = {
  account: string
  now: number
  /** The seconds that the work is known to use; 0 if unknown. */
  seconds: number
  /** Maximum seconds of a month; undefined or 0 means no limit. */
  maxSeconds: number | undefined
}

/**
 * Returns the error for new work of an account that has used up its quota of the month, or would
 * exceed it with this work; undefined if the work may proceed. Work in progress counts, so that
 * many concurrent requests exceed the limit no further than one.
 */
export async function findAudioQuotaError(
  tx: Db,
  { account, now, seconds, maxSeconds }: QuotaQuery,
): Promise<AppError | undefined> {
  if (!maxSeconds) return undefined
  const { used, inProgress, resetsAt } = await readMonthUsage(tx, { account, now })
  const usedSeconds = used + inProgress
  if (usedSeconds < maxSeconds && usedSeconds + seconds <= maxSeconds) return undefined
  const parts = [
    `it used ${formatSeconds(used)} of the ${maxSeconds} s of this month`,
    ...(inProgress > 0 ? [`${formatSeconds(inProgress)} are in progress`] : []),
    ...(seconds > 0 ? [`this takes ${formatSeconds(seconds)}`] : []),
  ]
  const reset = `the next month begins at ${new Date(resetsAt).toISOString()}`
  const detail = `${parts.join(', ')} (STENO_ACCOUNT_MAX_SECONDS_PER_MONTH); ${reset}`
  return new AppError('quota_exceeded', detail)
}

function formatSeconds(seconds: number): string {
  return `${Math.round(seconds * 10) / 10} s`
}
