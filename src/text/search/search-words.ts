import { toEnglishLetters } from '../words/normalize.ts'

/** A word of a text in the form for search, and its position in UTF-16 code units. */
export type SearchWord = { text: string; start: number; end: number }

/** Scripts that are written without spaces: each character is a word. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
/** Longer sequences of characters are not indexed as words. */
const MAX_WORD_CHARS = 64

const word = new RegExp(
  String.raw`[${UNSPACED}]\p{M}*|(?:(?![${UNSPACED}])[\p{L}\p{N}])(?:(?![${UNSPACED}])[\p{L}\p{N}\p{M}])*`,
  'gu',
)

/**
 * Splits a text into words in lower case. Punctuation, including the apostrophe, separates words.
 */
export function splitWords(text: string): SearchWord[] {
  return Array.from(text.matchAll(word), ({ 0: found, index }) => ({
    text: found.normalize('NFKC').toLowerCase().slice(0, MAX_WORD_CHARS),
    start: index,
    end: index + found.length,
  }))
}

/**
 * Removes the accents of a word that people omit when they type, and replaces letters that many
 * keyboards lack. In other scripts than alphabets, the marks are vowels and stay.
 */
export function foldMarks(text: string): string {
  if (/^[\da-z]*$/.test(text)) return text
  return toEnglishLetters(text)
    .normalize('NFD')
    .replace(/([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Mn}+/gu, '$1')
    .normalize('NFC')
}

/** Begins the terms of names, and separates their words. No word contains it. */
const NAME_MARK = '\uE000'

/**
 * Returns the term for the name of the speaker, which follows those of the words; undefined for a
 * name without letters and digits. It ignores case and accents.
 */
export function toNameTerm(name: string): string | undefined {
  const words = splitWords(name).map(({ text }) => NAME_MARK + foldMarks(text))
  return words.length > 0 ? words.join('') : undefined
}
