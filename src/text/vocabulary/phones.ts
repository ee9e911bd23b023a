import { createRequire } from 'node:module'
import { withoutAccents } from '../words/normalize.ts'
import { foldWord } from '../words/word-parts.ts'
import { applyLetterRules, LETTER_RULES } from './grapheme-to-phoneme.ts'
import { readPhones } from './phone-distance.ts'

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']

/**
 * The names of letters in ARPAbet. The dictionary cannot supply them: it has some letters as words.
 */
const LETTER_NAMES: Record<string, string> = Object.fromEntries(
  'a EY|b B IY|c S IY|d D IY|e IY|f EH F|g JH IY|h EY CH|i AY|j JH EY|k K EY|l EH L|m EH M|n EH N|o OW|p P IY|q K Y UW|r AA R|s EH S|t T IY|u Y UW|v V IY|w D AH B AH L Y UW|x EH K S|y W AY|z Z IY'
    .split('|')
    .map((line) => [line[0], line.slice(2)]),
)

let dictionary: Readonly<Record<string, string>> | undefined

/**
 * Returns the phones of a word from the CMU Pronouncing Dictionary (North American English), loaded
 * on first use.
 */
function lookUp(word: string): string | undefined {
  dictionary ??= (
    createRequire(import.meta.url)('cmu-pronouncing-dictionary') as {
      dictionary: Readonly<Record<string, string>>
    }
  ).dictionary
  return dictionary[word]
}

/** Returns whether a language has letter rules, so that its words can be compared by phones. */
export function supportsPhones(language: string): boolean {
  return Object.hasOwn(LETTER_RULES, language)
}

/**
 * Returns the phones of a text in a language for which `supportsPhones` is true. English words come
 * from the dictionary, all others from letter rules. Names like `PostgreSQL` are read part by part,
 * short words in capitals letter by letter, and digits one by one.
 */
export function phonesOf(text: string, language: string): number[] {
  const parts = text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}'’]+|\p{N}|[\p{L}\p{M}]+/gu) ?? []
  return readPhones(parts.map((part) => pronounce(part, language)).join(' '))
}

function pronounce(part: string, language: string): string {
  const digit = DIGITS[Number(part)]
  if (digit) return lookUp(digit) ?? ''
  const word = foldWord(part)
  const isEnglish = language === 'en'
  // The dictionary has resume, not résumé.
  const listedPhones = isEnglish ? (lookUp(word) ?? lookUp(withoutAccents(word))) : undefined
  const isCapitals = part === part.toUpperCase() && /^[A-Z]+$/.test(part)
  if (isCapitals && (part.length <= 3 || (part.length <= 5 && !listedPhones))) {
    return [...word].map((letter) => LETTER_NAMES[letter]).join(' ')
  }
  return listedPhones ?? applyLetterRules(plainLetters(word, language), LETTER_RULES[language]!)
}

/**
 * Removes apostrophes and, for English, accents: only the letter rules of other languages have
 * some.
 */
function plainLetters(word: string, language: string): string {
  const letters = word.replaceAll("'", '')
  return language === 'en' ? withoutAccents(letters) : letters
}
