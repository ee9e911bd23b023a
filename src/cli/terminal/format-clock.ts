/** Formats seconds, rounded down, as `1:02:07`. */
export function formatClock(seconds: number): string {
  const whole = Math.floor(seconds)
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  return parts.map((part, i) => (i === 0 ? part : String(part).padStart(2, '0'))).join(':')
}

/** Formats seconds, rounded down, as `1:02:07` or `2:07`. */
export function formatShortClock(seconds: number): string {
  return seconds < 3600 ? formatClock(seconds).slice(2).replace(/^0/, '') : formatClock(seconds)
}
