/** The markers of redacted words, such as `[NAME_1]`. */
export const MARKERS = /\[[A-Z][A-Z_]*_\d+\]/g
/** Masks of redacted words, such as `####`. */
const MASKS = /#+/g

/**
 * Returns whether a translation has the redacted words of its text, and is empty only if the text
 * is.
 */
export function keepsHidden(translation: string | undefined, text: string): translation is string {
  if (translation === undefined || (text.trim() !== '' && translation === '')) return false
  const markers = (text: string) => (text.match(MARKERS) ?? []).sort().join()
  const masks = (text: string) => (text.match(MASKS) ?? []).length
  return markers(text) === markers(translation) && masks(text) === masks(translation)
}
