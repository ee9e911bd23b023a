import type { Word } from '../../../transcript/transcript.ts'
import { capitalize, isFunctionWordInText } from '../letter-case.ts'
import { type Abbreviation, abbreviationOf } from '../sentences/abbreviations.ts'
import { type WordParts, wordPartsOf } from '../word-parts.ts'
import { AFTER_NUMBER, SCALE, TIME_OF_DAY } from './number-context.ts'
import { writeWords, writeYear } from './number-words.ts'

type Currency = { one: string; many: string; hundredth?: { one: string; many: string } }

const CENTS = { one: 'cent', many: 'cents' }
const CURRENCIES: Record<string, Currency> = {
  $: { one: 'dollar', many: 'dollars', hundredth: CENTS },
  '€': { one: 'euro', many: 'euros', hundredth: CENTS },
  '£': { one: 'pound', many: 'pounds', hundredth: { one: 'penny', many: 'pence' } },
  '¥': { one: 'yen', many: 'yen' },
}
const SIGNS: Record<string, string> = { '-': 'minus', '−': 'minus', '+': 'plus' }
const UNITS: Record<string, { one: string; many: string }> = {
  '%': { one: 'percent', many: 'percent' },
  '¢': CENTS,
}
/** A sign and a currency before a number, and what is before them. */
const MARKS_BEFORE = /^(.*?)([-−+]?)([$€£¥]?)$/s
/** A number in punctuation. Beside other marks (#5, 20+, .5) it stays in digits. */
const PUNCTUATION = /^[\p{Ps}\p{Pi}\p{Pd}"'…]*0[\p{Pe}\p{Pf}\p{Pd}"'.,;:!?…]*$/u
/** More digits without separators are a code or a phone number, which stays in digits. */
const MAX_DIGITS = 6
const NUMERAL = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(st|nd|rd|th)?$/

/** Returns words with their numbers in words, except for `codes`. */
export function numbersToWords(words: readonly Word[], codes: ReadonlySet<Word>): Word[] {
  return words.flatMap((word, i) => {
    if (codes.has(word)) return [word]
    const isAttribute = isBeforeNoun(words, i)
    const text =
      numberInWords(word, { next: words[i + 1], isAttribute }) ?? scaleWithCurrency(words, i)
    if (text === undefined) return [word]
    const [first, ...rest] = text.split(' ')
    return divideTime(word, [
      beginsSentence(words[i - 1]) ? capitalize(first!, 'en') : first!,
      ...rest,
    ])
  })
}

/** Abbreviations after which a number continues the sentence: No. 5, in the U.S. 20 people. */
const BEFORE_NUMBERS: readonly (Abbreviation | undefined)[] = [
  'never-final',
  'numbered',
  'ambiguous',
]

function beginsSentence(before: Word | undefined): boolean {
  if (!before) return true
  const { core, possessive, after } = wordPartsOf(before.text)
  const kind = after === '.' ? abbreviationOf(core + possessive, 'en') : undefined
  return /[.!?…]["'”’)]*$/.test(before.text) && !BEFORE_NUMBERS.includes(kind)
}

/**
 * Returns "million dollars" for the second word of "$3.5 million", and undefined for other words.
 */
function scaleWithCurrency(words: readonly Word[], at: number): string | undefined {
  const [amount, scale] = [words[at - 1], words[at]!]
  const inWords = amount && numberInWords(amount, { next: scale, isAttribute: false })
  const currency = inWords && currencyBeforeScale(amount, scale)
  const parts = wordPartsOf(scale.text)
  if (!currency) return undefined
  const isAttribute = hasArticle(words, at - 1) && isFollowedByNoun(words, at)
  return withAffixes(parts, `${parts.core} ${isAttribute ? currency.one : currency.many}`)
}

/** Returns whether an amount is an attribute, as in "a $20 bill". */
function isBeforeNoun(words: readonly Word[], at: number): boolean {
  return hasArticle(words, at) && isFollowedByNoun(words, at)
}

function hasArticle(words: readonly Word[], at: number): boolean {
  return /^an?$/i.test(words[at - 1]?.text ?? '')
}

function isFollowedByNoun(words: readonly Word[], at: number): boolean {
  const next = words[at + 1]
  if (!next || wordPartsOf(words[at]!.text).after !== '') return false
  return /^\p{Ll}/u.test(next.text) && !isFunctionWordInText(next.text)
}

/** Returns the currency of an amount whose scale is the next word. */
function currencyBeforeScale(amount: Word, scale: Word | undefined) {
  const { before, after } = wordPartsOf(amount.text)
  const next = wordPartsOf(scale?.text ?? '')
  if (after + next.before + next.possessive !== '' || !SCALE.test(next.core.toLowerCase())) {
    return undefined
  }
  return CURRENCIES[before.at(-1) ?? '']
}

/** Writes 7:30 as seven thirty, 7:05 as seven oh five and 7:00 as seven o'clock. */
function timeInWords(hours: number, minutes: number, next: string): string | undefined {
  if (minutes >= 10) return `${writeWords(hours)} ${writeWords(minutes)}`
  if (minutes > 0) return `${writeWords(hours)} oh ${writeWords(minutes)}`
  if (hours < 1 || hours > 12) return undefined
  return TIME_OF_DAY.test(next) || next === "o'clock"
    ? writeWords(hours)
    : `${writeWords(hours)} o'clock`
}

/** Returns a word with its number in words, and its punctuation; undefined if it has no number. */
function numberInWords(
  word: Word,
  { next, isAttribute }: { next: Word | undefined; isAttribute: boolean },
): string | undefined {
  const parts = wordPartsOf(word.text)
  const nextCore = wordPartsOf(next?.text ?? '').core.toLowerCase()
  const [, hours, minutes] = /^(\d{1,2}):([0-5]\d)$/.exec(parts.core) ?? []
  if (hours !== undefined) {
    const time = timeInWords(Number(hours), Number(minutes), nextCore)
    return time && withAffixes(parts, time)
  }
  const numeral = readNumeral(parts.core)
  if (!numeral) return undefined
  const [, open = '', sign = '', symbol = ''] = MARKS_BEFORE.exec(parts.before) ?? []
  const currency = CURRENCIES[symbol]
  const unit = currency ? undefined : UNITS[parts.after[0] ?? '']
  const after = unit ? parts.after.slice(1) : parts.after
  if (!PUNCTUATION.test(`${open}0${after}`)) return undefined
  const isBeforeScale = currencyBeforeScale(word, next) !== undefined
  const number = numeralInWords(numeral, nextCore)
  const amount =
    currency && !isBeforeScale
      ? moneyInWords({ ...numeral, text: number }, isAttribute ? attribute(currency) : currency)
      : number
  const isOne = numeral.value === 1 && !numeral.decimals
  const texts = [SIGNS[sign], amount, isOne ? unit?.one : unit?.many]
  const text = texts.filter((part) => part !== undefined).join(' ')
  return withAffixes({ ...parts, before: open, after }, text)
}

type Numeral = {
  value: number
  decimals: string | undefined
  isOrdinal: boolean
  /** Whether it may be a year. */
  isYear: boolean
}

/** Reads a number in digits; undefined for other words, and for codes, which stay in digits. */
function readNumeral(core: string): Numeral | undefined {
  const [, integerPart = '', decimals, suffix] = NUMERAL.exec(core) ?? []
  const digits = integerPart.replaceAll(',', '')
  const isCode = digits === integerPart && (digits.length > MAX_DIGITS || /^0\d/.test(digits))
  if (digits === '' || digits.length > 15 || isCode) return undefined
  const value = Number(digits)
  const isYear = integerPart.length === 4 && !decimals && value >= 1100 && value < 2100
  return { value, decimals, isOrdinal: suffix !== undefined, isYear }
}

function numeralInWords({ value, decimals, isOrdinal, isYear }: Numeral, next: string): string {
  if (isYear && !AFTER_NUMBER.test(next) && value % 1000 > 9) return writeYear(value)
  const text = writeWords(value, { isOrdinal })
  if (!decimals) return text
  return `${text} point ${[...decimals].map((digit) => writeWords(Number(digit))).join(' ')}`
}

/** Writes $19.99 as nineteen dollars and ninety-nine cents, $0.99 as ninety-nine cents. */
function moneyInWords(
  { value, decimals = '', text }: { value: number; decimals: string | undefined; text: string },
  { one, many, hundredth }: Currency,
): string {
  const integerText = `${writeWords(value)} ${value === 1 ? one : many}`
  if (!hundredth || decimals.length !== 2) return decimals === '' ? integerText : `${text} ${many}`
  const cents = Number(decimals)
  const centsText = `${writeWords(cents)} ${cents === 1 ? hundredth.one : hundredth.many}`
  if (cents === 0) return integerText
  return value === 0 ? centsText : `${integerText} and ${centsText}`
}

/** Returns the singular forms of a currency: a nineteen dollar and ninety-nine cent plan. */
function attribute({ one, hundredth }: Currency): Currency {
  return { one, many: one, ...(hundredth && { hundredth: { ...hundredth, many: hundredth.one } }) }
}

function withAffixes({ before, possessive, after }: WordParts, text: string): string {
  return before + text + possessive + after
}

function divideTime({ start, end, confidence }: Word, texts: readonly string[]): Word[] {
  const letters = texts.reduce((sum, { length }) => sum + length, 0)
  let from = start
  return texts.map((text, i) => {
    const to = i === texts.length - 1 ? end : from + ((end - start) * text.length) / letters
    const word = { text, start: from, end: to, confidence }
    from = to
    return word
  })
}
