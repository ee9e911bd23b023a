import { isObject } from '../../../is-object.ts'
import { UsageError } from '../../arguments.ts'
import { sanitize } from '../../terminal/sanitize-terminal.ts'
import { isStrings, readJsonFile } from './json-file.ts'

type Check = { wanted: string; holds(value: unknown): boolean }

const intensity: Check = {
  wanted: 'a number from 0 to 1',
  holds: (value) => typeof value === 'number' && value >= 0 && value <= 1,
}

/** The fields of an entry, as in the API. */
const entryFields: Record<string, Check> = {
  value: { wanted: 'a text', holds: (value) => typeof value === 'string' && value.trim() !== '' },
  intensity,
  pronunciations: { wanted: 'a list of texts', holds: isStrings },
  language: {
    wanted: 'the code of a language, such as en',
    holds: (value) => typeof value === 'string' && /^[a-z]{2,4}(-\w+)*$/i.test(value),
  },
}

const configFields: Record<string, Check> = {
  vocabulary: { wanted: 'a list', holds: Array.isArray },
  default_intensity: intensity,
}

/**
 * Reads the file of `--vocabulary` and returns a `custom_vocabulary_config`: the file holds that,
 * or its list alone. A `UsageError` names the file and the place, because the server would report
 * it only after the upload.
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
    if (!check.holds(field)) throw new UsageError(`${place}: '${name}' must be ${check.wanted}`)
  }
}
