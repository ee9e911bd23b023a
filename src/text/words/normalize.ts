/**
 * Maximum combining marks on one letter in any language (Unicode Standard Annex 15, stream-safe
 * text).
 */
const MAX_MARKS = 30

const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MAX_MARKS + 1}}`, 'u')
const AFTER_MAX_MARKS = new RegExp(`(?<=\\p{M}{${MAX_MARKS}})(?=\\p{M})`, 'u')

/**
 * Normalizes a text. A longer sequence of combining marks is normalized in parts, because sorting
 * it takes quadratic time.
 */
export function normalizeUnicode(text: string, form: 'NFC' | 'NFD'): string {
  if (!TOO_MANY_MARKS.test(text)) return text.normalize(form)
  return text
    .split(AFTER_MAX_MARKS)
    .map((part) => part.normalize(form))
    .join('')
}

/** Letters that are no others with an accent, as English spells them. */
const LETTERS: Record<string, string> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

/** Replaces letters in lower case that English lacks: "moller" for "møller", "weiss" for "weiß". */
export function toEnglishLetters(lower: string): string {
  return lower.replace(/[łøđıßæœ]/g, (letter) => LETTERS[letter]!)
}

/** Returns a text in lower case as English spells it: "krakow" for "kraków". */
export function withoutAccents(lower: string): string {
  return toEnglishLetters(normalizeUnicode(lower, 'NFD').replace(/\p{M}/gu, ''))
}
