/** Scripts that are written without spaces between words: each character counts as a word. */
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** What is spoken in a text: a letter or a digit, but no punctuation. */
export const SPOKEN = /[\p{L}\p{N}]/u
/** Signs that belong to the character before them. */
const ATTACHED = /^[\p{M}ー]/u

/** Groups characters into words, without the spaces between them. */
export function groupLetters<T extends { letter: string }>(letters: readonly T[]): T[][] {
  const groups: T[][] = []
  let isOpen = false
  for (const letter of letters) {
    if (/^\s$/.test(letter.letter)) {
      isOpen = false
      continue
    }
    const previous = groups.at(-1)
    const before = previous?.at(-1)?.letter ?? ''
    const isPart = previous && (isOpen || ATTACHED.test(letter.letter))
    const startsWord =
      UNSPACED.test(letter.letter) || (UNSPACED.test(before) && SPOKEN.test(letter.letter))
    if (isPart && (!startsWord || ATTACHED.test(letter.letter))) previous.push(letter)
    else groups.push([letter])
    isOpen = true
  }
  return groups
}

/**
 * Splits a text into words at spaces, and in scripts without spaces into characters. Punctuation
 * between those belongs to the character before it, an opening mark to the one after it.
 */
export function splitWords(text: string): string[] {
  return text
    .split(/\s+/)
    .filter((token) => token !== '')
    .flatMap(splitToken)
}

function splitToken(token: string): string[] {
  const words: string[] = []
  let opening = ''
  for (const letters of groupLetters([...token].map((letter) => ({ letter })))) {
    const text = opening + letters.map(({ letter }) => letter).join('')
    opening = /[\p{Ps}\p{Pi}]+$/u.exec(text)?.[0] ?? ''
    if (text !== opening) words.push(text.slice(0, text.length - opening.length))
  }
  return opening === '' ? words : [...words, opening]
}
