import { withoutAccents } from '../../words/normalize.ts'

/**
 * Returns a word in lower case without accents, as the lists of names and cities spell it: "Kraków"
 * is "krakow".
 */
export function listSpelling(word: string): string {
  const lower = word.toLowerCase()
  return /^[\x20-\x7e]*$/.test(lower) ? lower : withoutAccents(lower)
}
