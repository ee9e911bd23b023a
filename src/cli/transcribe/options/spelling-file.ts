import { isObject } from '../../../is-object.ts'
import { UsageError } from '../../terminal/arguments.ts'
import { sanitize } from '../../terminal/sanitize.ts'
import { isStrings, readJsonFile } from './json-file.ts'

const expectation = 'must map each spelling to a list of the words it replaces'

/**
 * Reads the file of `--spelling` and returns a `custom_spelling_config`: the file contains that, or
 * only its dictionary. A `UsageError` names the file and the wrong spelling.
 */
export async function readSpellingFile(path: string): Promise<Record<string, unknown>> {
  const content = await readJsonFile(path)
  const place = sanitize(path)
  if (!isObject(content)) throw new UsageError(`${place} ${expectation}`)
  const { spelling_dictionary: dictionary = content, ...others } = content
  const [other] = Object.keys(others)
  if (dictionary !== content && other !== undefined) {
    throw new UsageError(`${place} has '${sanitize(other)}' beside 'spelling_dictionary'`)
  }
  if (!isObject(dictionary)) throw new UsageError(`${place}: 'spelling_dictionary' ${expectation}`)
  for (const [spelling, variants] of Object.entries(dictionary)) {
    if (isStrings(variants)) continue
    throw new UsageError(
      `${place}: '${sanitize(spelling)}' must be a list of the words it replaces`,
    )
  }
  return { spelling_dictionary: dictionary }
}
