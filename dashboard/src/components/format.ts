import { texts } from '../texts.ts'

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

/** Writes seconds as `1:02:03`, or `2:03` below an hour. */
export function formatTime(seconds: number): string {
  const wholeSeconds = Math.max(0, Math.floor(seconds))
  const [h, m, s] = [
    Math.floor(wholeSeconds / 3600),
    Math.floor(wholeSeconds / 60) % 60,
    wholeSeconds % 60,
  ]
  const two = (n: number) => String(n).padStart(2, '0')
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** Formats a date of the API for people. */
export function formatDateTime(iso: string): string {
  return moments.format(new Date(iso))
}

/** Formats a UTC day, such as `2026-11-24`, for people. */
export function formatDay(day: string): string {
  return days.format(new Date(day))
}

/** Writes a number of bytes, such as `1.5 GB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const unit = (['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const)[power]!
  const style = { style: 'unit', unit, maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(undefined, style).format(bytes / 1000 ** power)
}

/** Returns the name of a language in the language of the dashboard. */
export function languageName(code: string): string {
  try {
    return new Intl.DisplayNames([texts.language], { type: 'language' }).of(code) ?? code
  } catch {
    return code
  }
}

/** Isolates the direction of a name, so that it does not change the order of the text around it. */
export function isolate(name: string): string {
  return `\u2068${name}\u2069`
}
