/** A word of a text as searches know it, and where it stands, in UTF-16 code units. */
export type SearchWord = { text: string; start: number; end: number }

/** Scripts that are written without spaces: each character is searched for by itself. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
/** Longer ones are no words. */
const MAX_WORD_CHARS = 64

const word = new RegExp(
  String.raw`[${UNSPACED}]\p{M}*|(?:(?![${UNSPACED}])[\p{L}\p{N}])(?:(?![${UNSPACED}])[\p{L}\p{N}\p{M}])*`,
  'gu',
)

/** Splits a text into words, in lower case. Punctuation separates them, an apostrophe too. */
export function splitWords(text: string): SearchWord[] {
  return Array.from(text.matchAll(word), ({ 0: found, index }) => ({
    text: found.normalize('NFKC').toLowerCase().slice(0, MAX_WORD_CHARS),
    start: index,
    end: index + found.length,
  }))
}

/**
 * Returns a word without the marks that people leave out when they type: accents of alphabets.
 * Marks of other scripts are vowels.
 */
export function foldMarks(text: string): string {
  if (/^[\da-z]*$/.test(text)) return text
  return text
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replace(/([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Mn}+/gu, '$1')
    .normalize('NFC')
}

/** Begins the terms of names, and stands between their words: no word has it. */
const NAME_MARK = '\uE000'

/**
 * Returns the term that an utterance has for who says it, after those of its words; undefined for
 * a name without letters and digits. Case and accents make no difference.
 */
export function toNameTerm(name: string): string | undefined {
  const words = splitWords(name).map(({ text }) => NAME_MARK + foldMarks(text))
  return words.length > 0 ? words.join('') : undefined
}
