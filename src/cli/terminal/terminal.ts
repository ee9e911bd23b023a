import type { Readable } from 'node:stream'

/** A stream that a person may be watching. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** The parts of the process that a command may use. */
export type Terminal = {
  env: Record<string, string | undefined>
  stdin: Readable
  /** Results only. */
  stdout: Output
  /** Progress, problems and logs. */
  stderr: Output
  /** Aborts when the user wants the command to end. */
  signal: AbortSignal
}

/**
 * A command of the program. Resolves to the exit code. A rejection is shown and ends in 1, a
 * `UsageError` in 2.
 */
export type Command = {
  /** The whole text of `steno NAME --help`. */
  help: string
  run(args: readonly string[], terminal: Terminal): Promise<number>
}
