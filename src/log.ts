import { type Logger, pino } from 'pino'

/** The logger of the service. */
export type Log = Logger

/**
 * The root logger: JSON lines on stderr, so that stdout stays free for results.
 * Rooms take a child each (`log.child({ room: 'jobs' })`). Never log audio, transcripts, prompts,
 * keys, or URLs with tokens.
 */
export function createLog(level: string): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2))
}
