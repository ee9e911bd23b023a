import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf } from '../../errors.ts'

/** A command line or setting that is wrong. The program exits with code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

type ArgumentOptions = NonNullable<ParseArgsConfig['options']>

/**
 * Parses the arguments after the name of a command. Throws a `UsageError` that lists the options
 * for an unknown one, for an empty argument, as of a variable that is not set, and for a second
 * value of an option that takes one, which would otherwise silently replace the first.
 */
export function parseArguments<const T extends ArgumentOptions>(
  args: readonly string[],
  options: T,
) {
  const parsed = parseOptions(args, options)
  if (parsed.positionals.includes('')) throw new UsageError('An argument is empty')
  const seenNames = new Set<string>()
  for (const { name } of parsed.tokens.filter((token) => token.kind === 'option')) {
    const { type, multiple } = options[name]!
    if (type === 'boolean' || multiple) continue
    if (seenNames.has(name)) throw new UsageError(`--${name} takes one value, but is given twice`)
    seenNames.add(name)
  }
  return parsed
}

function parseOptions<const T extends ArgumentOptions>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, tokens: true })
  } catch (error) {
    const message = messageOf(error)
    const [problem] = message.split('. To specify')
    const optionNames = Object.keys(options).map((name) => `--${name}`)
    const hint = optionNames.length > 0 ? ` (options: ${optionNames.join(', ')})` : ''
    throw new UsageError(`${problem}${hint}`, { cause: error })
  }
}

/** Reads an option that must be a whole number of at least `min`. */
export function parseNumberOption(
  text: string | undefined,
  { name, fallback, min }: { name: string; fallback: number; min: number },
): number {
  if (text === undefined) return fallback
  const value = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= min) return value
  throw new UsageError(`--${name} must be an integer of at least ${min}, not '${text}'`)
}

/** Reads an option that must be one of `choices`, the first being the default. */
export function readChoice<const T extends string>(
  text: string | undefined,
  { name, choices }: { name: string; choices: readonly [T, ...T[]] },
): T {
  if (text === undefined) return choices[0]
  const value = choices.find((choice) => choice === text)
  if (value !== undefined) return value
  throw new UsageError(`--${name} must be one of: ${choices.join(', ')}; not '${text}'`)
}

/**
 * Reads settings from the environment. Throws a `UsageError` with one line for each invalid
 * setting.
 */
export function readSettings<T>(
  read: (env: Record<string, string | undefined>) => T,
  env: Record<string, string | undefined>,
): T {
  try {
    return read(env)
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error })
  }
}
