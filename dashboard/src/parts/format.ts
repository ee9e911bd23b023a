import { texts } from '../texts.ts'

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Writes seconds as `1:02:03`, or `2:03` below an hour. */
export function formatTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const two = (n: number) => String(n).padStart(2, '0')
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** Writes a date of the API for people. */
export function formatMoment(iso: string): string {
  return moments.format(new Date(iso))
}

/** Returns the name of a language in the language of the dashboard. */
export function languageName(code: string): string {
  try {
    return new Intl.DisplayNames([texts.language], { type: 'language' }).of(code) ?? code
  } catch {
    return code
  }
}
