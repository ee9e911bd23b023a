import type { Params } from '../add-ons/add-on.ts'

/**
 * A vocabulary above these limits (spellings and pronunciations, and their characters) may take
 * more than 100 ms per utterance when every entry is close to the speech. Other sessions must not
 * wait for it.
 */
const LARGE_VOCABULARY = { texts: 100, characters: 3000 }
/**
 * A dictionary above these limits (variants, and their characters) takes more than 50 ms to read.
 */
const LARGE_DICTIONARY = { texts: 5000, characters: 200_000 }

type StepConfig = {
  vocabulary?: readonly (string | { value: string; pronunciations?: readonly string[] })[]
  spelling_dictionary?: Readonly<Record<string, readonly string[]>>
}

/**
 * Returns whether a session's parameters take so long to prepare that it must not share a thread.
 */
export function isLarge(params: Params): boolean {
  const { vocabulary = [] } = configOf(params, 'custom_vocabulary')
  const { spelling_dictionary: dictionary = {} } = configOf(params, 'custom_spelling')
  const entries = vocabulary.map((entry) => {
    return typeof entry === 'string' ? [entry] : [entry.value, ...(entry.pronunciations ?? [])]
  })
  return (
    exceedsLimit(entries, LARGE_VOCABULARY) ||
    exceedsLimit(
      Object.entries(dictionary).map(([key, variants]) => [key, ...variants]),
      LARGE_DICTIONARY,
    )
  )
}

function configOf(params: Params, name: string): StepConfig {
  return params[name] === true ? ((params[`${name}_config`] ?? {}) as StepConfig) : {}
}

function exceedsLimit(
  entries: readonly (readonly string[])[],
  most: { texts: number; characters: number },
): boolean {
  let [texts, characters] = [0, 0]
  for (const entry of entries) {
    for (const text of entry) {
      texts++
      characters += text.length
      if (texts > most.texts || characters > most.characters) return true
    }
  }
  return false
}
