/**
 * No language uses so many combining marks on one letter (Unicode Standard Annex 15, stream-safe
 * text).
 */
const MAX_MARKS = 30

const MANY_MARKS = new RegExp(`\\p{M}{${MAX_MARKS + 1}}`, 'u')
const BEHIND_MANY = new RegExp(`(?<=\\p{M}{${MAX_MARKS}})(?=\\p{M})`, 'u')

/**
 * Normalizes a text. Longer rows of combining marks keep their order: to sort such a row takes
 * quadratic time.
 */
export function normalizeUnicode(text: string, form: 'NFC' | 'NFD'): string {
  if (!MANY_MARKS.test(text)) return text.normalize(form)
  return text
    .split(BEHIND_MANY)
    .map((part) => part.normalize(form))
    .join('')
}
