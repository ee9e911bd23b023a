import { sanitize } from '../terminal/sanitize.ts'
import type { Output } from '../terminal/terminal.ts'
import type { Format } from './formats.ts'
import type { Recording } from './input-files.ts'

/** A formatted result, or the error of its recording. */
export type FormattedResult = { text: string | Uint8Array } | { error: string }

/** Writes results to stdout, in the order of the recordings. */
export type ResultWriter = {
  write(recording: Recording, formatted: FormattedResult): void
  /** Ends the output, which closes a JSON array. */
  end(): void
}

/**
 * Creates the writer of a format. Several results are separated: texts by a line with the name, and
 * JSON by an array with one entry per recording, `{"file", "result"}` or `{"file", "error"}`.
 */
export function createResultWriter(
  stdout: Output,
  { format, hasMany }: { format: Format; hasMany: boolean },
): ResultWriter {
  let entries = 0
  return {
    write(recording, formatted) {
      if (hasMany && format === 'json') {
        stdout.write(`${entries++ === 0 ? '[' : ','}\n${entryOf(recording, formatted)}`)
      } else if ('text' in formatted) {
        if (hasMany) stdout.write(`==> ${sanitize(recording.name)} <==\n`)
        stdout.write(formatted.text)
      }
    },
    end() {
      if (entries > 0) stdout.write('\n]\n')
    },
  }
}

function entryOf(recording: Recording, formatted: FormattedResult): string {
  const file = JSON.stringify(recordingAddress(recording))
  if ('error' in formatted) return `{"file": ${file}, "error": ${JSON.stringify(formatted.error)}}`
  return `{"file": ${file}, "result": ${String(formatted.text).trimEnd()}}`
}

function recordingAddress(recording: Recording): string {
  if (recording.kind === 'file') return recording.path
  return recording.kind === 'url' ? recording.url : '-'
}
