import { UsageError } from './arguments.ts'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Formats a time in milliseconds since 1970 to the second; null as a dash. */
export function formatDateTime(at: number | null): string {
  return at === null ? '-' : `${new Date(at).toISOString().slice(0, 19)}Z`
}

/** Returns an ISO date (UTC by default) as milliseconds since 1970; NaN when it is invalid. */
export function parseDate(text: string): number {
  const match = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(
    text,
  )
  const [, day, zone] = match ?? []
  // February 30 would otherwise be read as a day in March.
  if (day === undefined || new Date(day).toJSON()?.slice(0, 10) !== day) return Number.NaN
  return Date.parse(text.includes('T') && zone === undefined ? `${text}Z` : text)
}

/** Returns the milliseconds of a duration such as 30m, 24h or 7d; NaN when it is invalid. */
function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  return unit === undefined ? Number.NaN : Number(count) * UNITS[unit as keyof typeof UNITS]
}

/** Reads the option `name`: a time in the past, as an ISO date or a duration ago. */
export function readTimeAgo(text: string, { name, now }: { name: string; now: number }): number {
  const durationMs = parseDuration(text)
  const at = Number.isNaN(durationMs) ? parseDate(text) : now - durationMs
  if (at <= now) return at
  throw new UsageError(
    `--${name} must be an age such as 24h or 7d, or a past ISO date, not '${text}'`,
  )
}

/** Reads the option `name`: a duration in milliseconds, `fallback` when absent. */
export function readDuration(
  text: string | undefined,
  { name, fallback }: { name: string; fallback: string },
): number {
  const durationMs = parseDuration(text ?? fallback)
  if (!Number.isNaN(durationMs)) return durationMs
  throw new UsageError(`--${name} must be a time such as 30m, ${fallback} or 7d, not '${text}'`)
}
