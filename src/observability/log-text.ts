import { styleText } from 'node:util'

const LEVELS: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}
const COLORS = { warn: 'yellow', error: 'red', fatal: 'red' } as const

/**
 * Formats a JSON log line for a terminal: time of day, level, message and fields; the stack of an
 * error follows on separate lines. Colors need a terminal. Returns any other text unchanged.
 */
export function formatLogLine(line: string): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line)
  } catch {
    return line
  }
  const { level, time, msg, err, ...others } = fields
  const name = LEVELS[Number(level)] ?? 'info'
  const color = COLORS[name as keyof typeof COLORS]
  const shown = color
    ? styleText(color, name.padEnd(5), { stream: process.stderr })
    : name.padEnd(5)
  const at = new Date(String(time)).toTimeString().slice(0, 8)
  const { stack, ...error } = (err ?? {}) as { stack?: string; message?: string }
  const pairs = Object.entries({ ...others, ...(error.message && { error: error.message }) })
  const values = pairs.map(([key, value]) => ` ${key}=${formatValue(value)}`).join('')
  const text = clean(`${String(msg ?? '')}${values}`)
  const frames =
    stack
      ?.split('\n')
      .slice(1)
      .map((frame) => `\n${clean(frame)}`) ?? []
  return `${at} ${shown} ${text}${frames.join('')}\n`
}

/** Formats a value; one with spaces or quotes is quoted, so that pairs are distinct. */
function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return typeof value === 'string' && /[\s"=]/.test(text) ? JSON.stringify(text) : text
}

/** Replaces control characters, which a terminal would interpret. */
function clean(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}
