/** Nobody writes so many combining marks on one letter (Unicode Standard Annex 15, stream-safe text). */
const MOST_MARKS = 30

const MANY_MARKS = new RegExp(`\\p{M}{${MOST_MARKS + 1}}`, 'u')
const BEHIND_MANY = new RegExp(`(?<=\\p{M}{${MOST_MARKS}})(?=\\p{M})`, 'u')

/**
 * A text in a normalization form. Longer rows of combining marks are left in the order they came in: to sort such
 * a row takes time that grows with the square of its length.
 */
export function normalize(text: string, form: 'NFC' | 'NFD'): string {
  if (!MANY_MARKS.test(text)) return text.normalize(form)
  return text
    .split(BEHIND_MANY)
    .map((part) => part.normalize(form))
    .join('')
}
