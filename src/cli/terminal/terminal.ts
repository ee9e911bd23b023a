import type { Readable } from 'node:stream'

/** An output stream that may be a terminal. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** The parts of the process that a command may use. */
export type Terminal = {
  env: Record<string, string | undefined>
  stdin: Readable
  /** Only for results. */
  stdout: Output
  /** For progress, problems and logs. */
  stderr: Output
  /** Aborts when the user wants the command to end. */
  signal: AbortSignal
}

/**
 * A command of the program. `run` resolves to the exit code; a rejection is printed and exits with
 * 1, a `UsageError` with 2.
 */
export type Command = {
  /** The whole text of `steno NAME --help`. */
  help: string
  run(args: readonly string[], terminal: Terminal): Promise<number>
}
