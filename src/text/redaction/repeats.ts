import { digitRuns } from '../entities/digit-runs.ts'
import type { Entity, EntityType } from '../entities/entity-types.ts'
import { isFamily, isGiven, isMonthName, isWordLike } from '../entities/name-words.ts'
import { type Lexeme, lexemesOf } from '../entities/spoken-digits.ts'
import { isCommon } from '../vocabulary/common-words.ts'
import { findNumbers } from './stray-numbers.ts'

/** What was hidden, as it was said. */
export type Said = { type: EntityType; said: string }

/** Words in a row. */
type Phrase = { type: EntityType; words: string[] }

/** What was hidden somewhere, to be known again elsewhere. */
export type KnownWords = {
  /** Words in a row by the first of them. */
  phrases: Map<string, Phrase[]>
  numbers: { type: EntityType; digits: string }[]
}

/** Digits that are found again need to be so many; those in which they are found, so many more. */
const FEWEST_DIGITS = 3
const FEWEST_KNOWN = 4

/** Amounts and times are not of one person: elsewhere the same words mean something else. */
const unspecific =
  /^(?:AGE|DATE|DATE_INTERVAL|DAY|DOSE|DURATION|MONEY|MONTH|STATISTICS|TIME|YEAR|CVV|CREDIT_CARD_EXPIRATION|OCCUPATION|GENDER|MARITAL_STATUS)$/
const names = /^NAME/
const secrets = /^(?:PASSWORD|USERNAME)$/

/** Collects what was hidden: the words of names one by one, everything else as it was said. */
export function knownWordsOf(hidden: readonly Said[], wanted: ReadonlySet<EntityType>): KnownWords {
  const known: KnownWords = { phrases: new Map(), numbers: [] }
  const seen = new Set<string>()
  function add(type: EntityType, words: string[]): void {
    const key = `${type} ${words.join(' ')}`
    if (seen.has(key) || words.length === 0) return
    seen.add(key)
    const phrases = known.phrases.get(words[0]!)
    if (phrases) phrases.push({ type, words })
    else known.phrases.set(words[0]!, [{ type, words }])
  }
  for (const { type, said } of hidden) {
    const words = wordsOf(said).map(({ text }) => text)
    if (names.test(type)) {
      for (const [i, word] of words.entries()) {
        if (isNameWord(word)) add(typeOfNameWord(type, { i, count: words.length, wanted }), [word])
      }
    } else if (!unspecific.test(type)) {
      const digits = digitsOf(said)
      if (digits.length >= FEWEST_KNOWN) known.numbers.push({ type, digits })
      if (words.length > 1 || isTelling(words[0] ?? '', type)) add(type, words)
    }
  }
  return known
}

/** Where known words stand again: whole words in the same letter case, and digits of known numbers. */
export function findRepeats(
  text: string,
  { found: others, known }: { found: readonly Entity[]; known: KnownWords },
): Entity[] {
  const words = wordsOf(text)
  const found: Entity[] = []
  for (const [at, { text: word, from }] of words.entries()) {
    for (const phrase of phrasesAt(word, known)) {
      const part = words.slice(at, at + phrase.words.length)
      if (part.some(({ text }, i) => i > 0 && text !== phrase.words[i])) continue
      if (part.length < phrase.words.length || isEveryday(text, part)) continue
      found.push({ type: phrase.type, from, to: part.at(-1)!.to, score: 0.05 })
    }
  }
  if (known.numbers.length === 0) return found
  for (const { from, to, digits } of findNumbers(text, others)) {
    if (digits.length < FEWEST_DIGITS) continue
    const number = known.numbers.find((one) => {
      return one.digits.includes(digits) || digits.includes(one.digits)
    })
    if (number) found.push({ type: number.type, from, to, score: 0.05 })
  }
  return found
}

/** Known words that begin with a word; names also in capitals, and of several people, as "the Smiths". */
function phrasesAt(word: string, { phrases }: KnownWords): Phrase[] {
  const own = phrases.get(word) ?? []
  if (!/^\p{Lu}{3}|^\p{Lu}.{3,}s$/u.test(word)) return own
  const isLoud = /^\p{Lu}+$/u.test(word)
  const plain = isLoud ? word[0] + word.slice(1).toLowerCase() : word.slice(0, -1)
  return [...own, ...(phrases.get(plain) ?? []).filter(({ type }) => names.test(type))]
}

/** The words of a text without a possessive, numbers and spelled letters among them. */
function wordsOf(text: string): Lexeme[] {
  return lexemesOf(text)
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
    .map((lexeme) => {
      const core = lexeme.text.replace(/['’]s$/, '')
      return { ...lexeme, text: core, to: lexeme.from + core.length }
    })
}

function digitsOf(said: string): string {
  return digitRuns(lexemesOf(said))
    .map(({ digits }) => digits)
    .join('')
}

function isNameWord(word: string): boolean {
  return /^\p{Lu}/u.test(word) && word.length > 1
}

function typeOfNameWord(
  type: EntityType,
  { i, count, wanted }: { i: number; count: number; wanted: ReadonlySet<EntityType> },
): EntityType {
  const part = i === 0 ? 'NAME_GIVEN' : 'NAME_FAMILY'
  return type === 'NAME' && count > 1 && wanted.has(part) ? part : type
}

/** Whether a word says something by itself: common ones and those in small letters hardly do. */
function isTelling(word: string, type: EntityType): boolean {
  if (word.length < 3 || isCommon(word.toLowerCase())) return false
  return secrets.test(type) || /[\p{Lu}\d]/u.test(word)
}

/** Whether a single word may as well be an everyday one where it stands, as Will or May. */
function isEveryday(text: string, [word, ...others]: readonly Lexeme[]): boolean {
  if (others.length > 0) return false
  const lower = word!.text.toLowerCase()
  const left = text.slice(Math.max(0, word!.from - 12), word!.from)
  if (isMonthName(lower) && seasonBefore.test(left)) return true
  const begins = /(?:^|[.!?…]["'”’)]*\s+)$/.test(left)
  const isWord = isWordLike(lower) || isMonthName(lower)
  return begins && (isWord || (isCommon(lower) && !isGiven(lower) && !isFamily(lower)))
}

const seasonBefore =
  /\b(?:in|since|until|by|of|before|after|during|last|next|this|mid|late|early)[\s-]+$/i
