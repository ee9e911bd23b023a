/** Languages written without blanks between words. */
const BLANKLESS = new Set(['zh', 'ja', 'th', 'lo', 'my', 'km', 'bo'])

/** Returns the separator between two words of `language` in running text: a blank, or nothing. */
export function separatorOf(language: string): ' ' | '' {
  return BLANKLESS.has(language) ? '' : ' '
}
