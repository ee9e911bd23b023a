import { UsageError } from './arguments.ts'
import { isObject, isStrings, readJsonFile } from './json-file.ts'

/**
 * Reads the file of `--spelling` and returns a `custom_spelling_config`: the file holds that, or its dictionary alone. A
 * `UsageError` names the file and the spelling at fault.
 */
export async function readSpellingFile(path: string): Promise<Record<string, unknown>> {
  const content = await readJsonFile(path)
  const isConfig = isObject(content) && isObject(content.spelling_dictionary)
  const dictionary = isConfig ? content.spelling_dictionary : content
  if (!isObject(dictionary)) {
    throw new UsageError(`${path} must hold spellings, each with a list of what is heard for it`)
  }
  for (const [spelling, variants] of Object.entries(dictionary)) {
    if (isStrings(variants)) continue
    throw new UsageError(`${path}: '${spelling}' must be a list of what is heard for it`)
  }
  return { spelling_dictionary: dictionary }
}
