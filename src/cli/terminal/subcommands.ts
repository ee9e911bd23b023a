import { UsageError } from './arguments.ts'
import type { Terminal } from './terminal.ts'

/** The subcommands of a command by their names; each resolves to the exit code. */
export type Subcommands = Readonly<
  Record<string, (args: string[], terminal: Terminal) => Promise<number>>
>

/**
 * Runs the subcommand that the first argument names; `list` if there is none, or only options.
 * Throws a `UsageError` for an unknown one.
 */
export async function runSubcommand(
  subcommands: Subcommands,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [name = 'list', ...rest] = args[0]?.startsWith('-') ? ['list', ...args] : args
  const run = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined
  if (run) return run(rest, terminal)
  const names = Object.keys(subcommands).join(', ')
  throw new UsageError(`unknown subcommand '${name}'; use ${names}`)
}
