import { normalizeUnicode } from '../../words/normalize.ts'

const letters: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

/**
 * Returns a word in lower case without accents, as the lists of names and cities spell it: "Kraków"
 * is "krakow".
 */
export function listSpelling(word: string): string {
  const lower = word.toLowerCase()
  if (/^[\x20-\x7e]*$/.test(lower)) return lower
  const bare = normalizeUnicode(lower, 'NFD').replace(/\p{M}/gu, '')
  return bare.replace(/[łøđıßæœ]/g, (letter) => letters[letter]!)
}
