import type { Readable } from 'node:stream'

/** A stream that a person may be watching. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** What a command may touch of the process that runs it. */
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

/** A verb of the program. Resolves to the exit code; a rejection is shown and ends in 1, a `UsageError` in 2. */
export type Command = {
  /** The whole text of `steno NAME --help`. */
  help: string
  run(args: readonly string[], terminal: Terminal): Promise<number>
}
