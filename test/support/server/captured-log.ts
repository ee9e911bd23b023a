import { Writable } from 'node:stream'
import { pino } from 'pino'
import type { Log } from '../../../src/observability/log.ts'

/** A parsed log line. */
export type LogLine = { msg: string; room?: string; [field: string]: unknown }

/** Creates a log that writes into an array. */
export function captureLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = []
  const stream = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)))
      done()
    },
  })
  return { log: pino({ level: 'trace', base: null }, stream), lines }
}
