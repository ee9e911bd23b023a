import { normalize } from '../words/normalize.ts'

const letters: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

/** A word without accents, as the lists of names and cities have it: "Kraków" is "Krakow" there. In small letters. */
export function withoutAccents(word: string): string {
  const lower = word.toLowerCase()
  if (/^[\x20-\x7e]*$/.test(lower)) return lower
  const bare = normalize(lower, 'NFD').replace(/\p{M}/gu, '')
  return bare.replace(/[łøđıßæœ]/g, (letter) => letters[letter]!)
}
