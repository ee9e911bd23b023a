const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * Characters that take two columns: East Asian wide and fullwidth ones (Unicode Standard Annex 11,
 * by blocks), and those drawn as an emoji.
 */
const WIDE = new RegExp(
  [
    '[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3]',
    '[\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6]',
    '[\\u{16fe0}-\\u{18cff}\\u{1aff0}-\\u{1b2ff}\\u{1f200}-\\u{1f2ff}\\u{20000}-\\u{3fffd}]',
    '\\p{Emoji_Presentation}|\\ufe0f',
  ].join('|'),
  'u',
)
const INVISIBLE = /^\p{Default_Ignorable_Code_Point}+$/u

/**
 * Splits a text into the characters that a reader sees (grapheme clusters, Unicode Standard Annex
 * 29).
 */
export function splitCharacters(text: string): string[] {
  return isPlain(text) ? [...text] : Array.from(graphemes.segment(text), ({ segment }) => segment)
}

/**
 * Returns the columns of a text: two for a wide character, none for an invisible one, one for
 * others.
 */
export function countColumns(text: string): number {
  if (isPlain(text)) return text.length
  return splitCharacters(text).reduce((sum, character) => sum + columnsOf(character), 0)
}

function columnsOf(character: string): number {
  if (INVISIBLE.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/**
 * Returns whether a text is printable ASCII, as nearly every word is. Looking up the Unicode
 * properties of each character would take most of the time for a long recording.
 */
function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
