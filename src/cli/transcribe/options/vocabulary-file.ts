import { isObject } from '../../../is-object.ts'
import { UsageError } from '../../terminal/arguments.ts'
import { sanitize } from '../../terminal/sanitize.ts'
import { isStrings, readJsonFile } from './json-file.ts'

type Check = { expected: string; isValid(value: unknown): boolean }

const intensity: Check = {
  expected: 'a number from 0 to 1',
  isValid: (value) => typeof value === 'number' && value >= 0 && value <= 1,
}

/** The fields of an entry, as in the API. */
const entryFields: Record<string, Check> = {
  value: {
    expected: 'a text',
    isValid: (value) => typeof value === 'string' && value.trim() !== '',
  },
  intensity,
  pronunciations: { expected: 'a list of texts', isValid: isStrings },
  language: {
    expected: 'the code of a language, such as en',
    isValid: (value) => typeof value === 'string' && /^[a-z]{2,4}(-\w+)*$/i.test(value),
  },
}

const configFields: Record<string, Check> = {
  vocabulary: { expected: 'a list', isValid: Array.isArray },
  default_intensity: intensity,
}

/**
 * Reads the file of `--vocabulary` and returns a `custom_vocabulary_config`: the file contains
 * that, or only its list. A `UsageError` names the file and the entry, because the server would
 * report the problem only after the upload.
 */
export async function readVocabularyFile(path: string): Promise<Record<string, unknown>> {
  const content = await readJsonFile(path)
  const config = Array.isArray(content) ? { vocabulary: content } : content
  checkEntry(config, { place: sanitize(path), fields: configFields, required: 'vocabulary' })
  for (const [i, entry] of config.vocabulary.entries()) {
    const place = `${sanitize(path)}: entry ${i + 1}`
    const object = typeof entry === 'string' ? { value: entry } : entry
    checkEntry(object, { place, fields: entryFields, required: 'value' })
  }
  return config
}

type EntryRules = { place: string; fields: Record<string, Check>; required: string }

function checkEntry(
  value: unknown,
  { place, fields, required }: EntryRules,
): asserts value is Record<string, unknown> & { vocabulary: unknown[] } {
  if (!isObject(value)) throw new UsageError(`${place} must have a '${required}'`)
  for (const [name, field] of Object.entries({ [required]: undefined, ...value })) {
    const check = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!check) {
      throw new UsageError(
        `${place} has '${sanitize(name)}', known are: ${Object.keys(fields).join(', ')}`,
      )
    }
    if (!check.isValid(field)) throw new UsageError(`${place}: '${name}' must be ${check.expected}`)
  }
}
