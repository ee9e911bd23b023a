import { encodedExtension } from '../../audio/containers/detect-container.ts'
import type { Log } from '../../observability/log.ts'
import type { Journal } from './journal.ts'
import { formatLogRecord, type ReadLog, readRecords, type StopReason } from './log-records.ts'

/** The warnings of a session, in its result and in the server's log. */
export const warningTexts = {
  unread:
    'messages were dropped because no client fetched them in time (STENO_LIVE_MAX_QUEUED_MESSAGES, STENO_LIVE_MAX_QUEUED_BYTES)',
  unkept:
    'partials and acknowledgments were not kept, because the log of the session is nearly full (STENO_LIVE_MAX_LOG_BYTES)',
  unstored:
    'messages were left out of the result (STENO_LIVE_MAX_STORED_MESSAGES, STENO_LIVE_MAX_STORED_BYTES)',
  tooLarge:
    'the session ended because its log or transcript became too large (STENO_LIVE_MAX_LOG_BYTES)',
} as const

/**
 * Returns the text that informs a client of the limit that ended its session; undefined when no
 * limit ended it.
 */
export function limitText(
  reason: StopReason,
  { maxSeconds }: { maxSeconds: number },
): string | undefined {
  if (reason === 'too_long') return `the session is longer than ${maxSeconds} s (STENO_LIVE_MAX_S)`
  return reason === 'too_large' ? warningTexts.tooLarge : undefined
}

/**
 * Returns a warning if the first chunk of a session begins like a media file, which read as samples
 * is noise; browsers record such files.
 */
export function warnOfFileFormat(firstChunk: Uint8Array): string | undefined {
  const extension = encodedExtension(firstChunk)
  if (extension === undefined) return undefined
  return `the audio begins like a .${extension} file, but a session takes samples: decode the file, or upload it as a recording`
}

/**
 * Creates a function that logs each warning once per session; `logged` are those that an earlier
 * process logged.
 */
export function createWarnings({
  journal,
  log,
  logged,
}: {
  journal: Journal
  log: Log
  logged: readonly string[]
}): (text: string) => void {
  const known = new Set(logged)
  return (text) => {
    if (known.has(text)) return
    known.add(text)
    log.warn({ warning: text }, 'a live session has a warning')
    journal.append({ lines: [formatLogRecord({ kind: 'warning', text })] })
  }
}

/** Reads the warnings in the log of a session, each once. */
export async function readWarnings(readLog: ReadLog): Promise<string[]> {
  const texts = new Set<string>()
  for await (const warnings of readRecords(readLog, ['warning'])) {
    for (const { text } of warnings) texts.add(text)
  }
  return [...texts]
}
