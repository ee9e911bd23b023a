import { digitRuns, isSpokenConnector } from '../../entities/digits/digit-runs.ts'
import { type Lexeme, lexemesOf } from '../../entities/digits/spoken-digits.ts'
import type { EntityType } from '../../entities/entity-types.ts'
import { listSpelling } from '../../entities/names/accents.ts'
import { isOrdinaryWord } from '../../entities/names/name-words.ts'

/** A masked entity and its original text. */
export type KnownText = { type: EntityType; original: string }

/** A sequence of words. */
export type Phrase = { type: EntityType; words: string[] }

/** The masked words, to find them again elsewhere. */
export type KnownWords = {
  /** The single words of names, in lower case and without accents. */
  names: Map<string, EntityType>
  /** Other sequences of words in lower case, by their first word. */
  phrases: Map<string, Phrase[]>
  /** Codes of letters and digits, such as license plates, as `toCode` writes them. */
  codes: Map<string, EntityType>
  numbers: KnownNumber[]
}

/** The fewest digits of a known number whose parts are searched for. */
export const MIN_KNOWN_DIGITS = 4

/**
 * Types that are not specific to a person, such as amounts and times: elsewhere, the same words
 * mean something else.
 */
const unspecific =
  /^(?:AGE|DATE|DATE_INTERVAL|DAY|DOSE|DURATION|MONEY|MONTH|STATISTICS|TIME|YEAR|CVV|CREDIT_CARD_EXPIRATION|OCCUPATION|GENDER|MARITAL_STATUS)$/
const secrets = /^(?:PASSWORD|USERNAME)$/

/** Collects the masked words: the single words of names, and everything else as it was said. */
export function knownWordsOf(
  hidden: readonly KnownText[],
  requestedTypes: ReadonlySet<EntityType>,
): KnownWords {
  const knownWords: KnownWords = {
    names: new Map(),
    phrases: new Map(),
    codes: new Map(),
    numbers: [],
  }
  const seenKeys = new Set<string>()
  for (const { type, original } of hidden) {
    const key = `${type} ${original}`
    if (seenKeys.has(key)) continue
    seenKeys.add(key)
    const words = wordLexemes(original).map(({ text }) => text)
    if (/^NAME/.test(type)) addNames(knownWords, { type, words, wanted: requestedTypes })
    else if (!unspecific.test(type)) addPhrase(knownWords, { type, words })
  }
  return knownWords
}

function addNames(
  { names }: KnownWords,
  { type, words, wanted }: Phrase & { wanted: ReadonlySet<EntityType> },
): void {
  const isSpelled = words.length > 2 && words.every((word) => word.length === 1)
  for (const [i, word] of (isSpelled ? [words.join('')] : words).entries()) {
    const plain = listSpelling(word)
    if (word.length < 2 || !isNamed(word, words) || names.has(plain)) continue
    const part = i === 0 ? 'NAME_GIVEN' : 'NAME_FAMILY'
    names.set(plain, type === 'NAME' && words.length > 1 && wanted.has(part) ? part : type)
  }
}

/**
 * Returns whether a word of a name identifies it. If the name has capitals, only the capitalized
 * words do, not "van"; otherwise all words do.
 */
function isNamed(word: string, words: readonly string[]): boolean {
  return /^\p{Lu}/u.test(word) || words.every((otherWord) => !/\p{Lu}/u.test(otherWord))
}

function addPhrase({ phrases, codes, numbers }: KnownWords, { type, words }: Phrase): void {
  const original = words.join(' ')
  const digits = digitRuns(lexemesOf(original))
    .map((run) => run.digits)
    .join('')
  if (digits.length >= MIN_KNOWN_DIGITS) numbers.push({ type, digits })
  const code = words.map(toCode).join('')
  if (code.length >= MIN_CODE && /\d/.test(code) && /[a-z]/.test(code)) codes.set(code, type)
  const [first, ...others] = words
  if (first === undefined || (others.length === 0 && !isDistinctive(first, type))) return
  const lower = words.map((word) => word.toLowerCase())
  const begun = phrases.get(lower[0]!)
  if (begun) begun.push({ type, words: lower })
  else phrases.set(lower[0]!, [{ type, words: lower }])
}

/** The fewest letters and digits of a code that is searched for in any spelling. */
const MIN_CODE = 5
const spokenDigits: ReadonlyMap<string, string> = new Map(
  'zero one two three four five six seven eight nine'
    .split(' ')
    .map((word, digit): [string, string] => [word, String(digit)])
    .concat([['oh', '0']]),
)

/**
 * Returns a word as letters and digits of a code: `BMW` as `bmw`, `seven` as `7`, "dash" as
 * nothing.
 */
export function toCode(word: string): string {
  const lower = word.toLowerCase()
  if (isSpokenConnector(lower)) return ''
  return spokenDigits.get(lower) ?? lower.replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Returns the words of a text without a possessive, numbers and spelled letters among them. */
export function wordLexemes(text: string): Lexeme[] {
  return lexemesOf(text)
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
    .map((lexeme) => {
      const core = lexeme.text.replace(/['’]s$/i, '')
      return { ...lexeme, text: core, to: lexeme.from + core.length }
    })
}

/**
 * Returns whether a word identifies something by itself, which common and lower-case words hardly
 * do.
 */
function isDistinctive(word: string, type: EntityType): boolean {
  if (word.length < 3 || isOrdinaryWord(word.toLowerCase())) return false
  return secrets.test(type) || /[\p{Lu}\d]/u.test(word)
}

/** The digits of a number that was hidden. */
export type KnownNumber = { type: EntityType; digits: string }
