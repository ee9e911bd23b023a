/** Languages written without spaces between words. */
const UNSPACED = new Set(['zh', 'ja', 'th', 'lo', 'my', 'km', 'bo'])

/** Returns the separator between two words of `language` in running text: a space, or nothing. */
export function separatorOf(language: string): ' ' | '' {
  return UNSPACED.has(language) ? '' : ' '
}
