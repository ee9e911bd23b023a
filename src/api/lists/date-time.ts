import { DAY_MS } from '../../clock.ts'

const DAY = /^(\d{4})-(\d\d)-(\d\d)/
const TIME = /^[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?/i
/** A time zone. The plus sign may be a space, because clients do not always encode it. */
const ZONE = /^(?:z|([+ -])(\d\d):?(\d\d)?)$/i

/**
 * Parses an ISO 8601 date or date-time. Returns milliseconds since 1970, or undefined if it is
 * neither. A date means its midnight; the default time zone is UTC.
 */
export function parseDateTime(text: string): number | undefined {
  const day = DAY.exec(text)
  if (!day) return undefined
  const [, year, month, date] = day.map(Number)
  const midnight = Date.UTC(year!, month! - 1, date)
  // Date.UTC would turn February 31 into March 3, and change years below 100.
  if (!new Date(midnight).toISOString().startsWith(day[0])) return undefined
  const timeText = text.slice(day[0].length)
  if (timeText === '') return midnight
  const time = TIME.exec(timeText)
  if (!time) return undefined
  const [, hours, minutes, seconds = 0] = time.map((part) => Number(part ?? 0))
  if (hours! > 23 || minutes! > 59 || seconds > 59) return undefined
  const milliseconds = Number(`${time[4] ?? ''}000`.slice(0, 3))
  const offset = parseZone(timeText.slice(time[0].length))
  if (offset === undefined) return undefined
  return midnight + ((hours! * 60 + minutes! - offset) * 60 + seconds) * 1000 + milliseconds
}

/** Formats a time for a response: ISO 8601, UTC, with milliseconds; null stays null. */
export function toDateTime(milliseconds: number): string
export function toDateTime(milliseconds: number | null): string | null
export function toDateTime(milliseconds: number | null): string | null {
  if (milliseconds === null) return null
  const start = Math.floor(Math.trunc(milliseconds) / DAY_MS) * DAY_MS
  if (start !== lastDay.start) {
    lastDay = { start, text: new Date(start).toISOString().slice(0, -'00:00:00.000Z'.length) }
  }
  const time = Math.trunc(milliseconds) - start
  const [hours, minutes] = [Math.trunc(time / 3_600_000), Math.trunc(time / 60_000) % 60]
  const seconds = Math.trunc(time / 1000) % 60
  const fraction = String(1000 + (time % 1000)).slice(1)
  return `${lastDay.text}${twoDigits[hours]}:${twoDigits[minutes]}:${twoDigits[seconds]}.${fraction}Z`
}

/**
 * The day of the last formatted time, which is kept because formatting a date takes longer than the
 * rest.
 */
let lastDay = { start: Number.NaN, text: '' }

/** The numbers from 0 to 59 with two digits. */
const twoDigits = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'))

/** Returns the offset from UTC in minutes; positive east of Greenwich. */
function parseZone(text: string): number | undefined {
  if (text === '') return 0
  const zone = ZONE.exec(text)
  if (!zone) return undefined
  const [, sign, hours = '0', minutes = '0'] = zone
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
