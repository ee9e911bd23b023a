import { readFile } from 'node:fs/promises'
import { UsageError } from '../../terminal/arguments.ts'
import { explainReading } from '../../terminal/file-errors.ts'
import { sanitize } from '../../terminal/sanitize.ts'

/**
 * Reads a JSON file that an option names. Any problem throws a `UsageError` with the file's name.
 */
export async function readJsonFile(path: string): Promise<unknown> {
  const name = sanitize(path)
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`Cannot read ${name}: ${explainReading(cause)}`, { cause })
  })
  try {
    // Editors on Windows write a byte order mark, which JSON does not allow.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    // The message quotes the file, which may be a recording named by mistake.
    const problem = sanitize(cause instanceof Error ? cause.message : String(cause))
    throw new UsageError(`Cannot read ${name}: it is not JSON: ${problem}`, { cause })
  }
}

/** Returns whether a value is a list of texts. */
export function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string')
}
