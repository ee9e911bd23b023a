import type { Word } from '../../../transcript/transcript.ts'
import { capitalize } from '../letter-case.ts'
import { abbreviationOf } from '../sentences/abbreviations.ts'
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
/** More digits without separators are a code or a phone number, which stays in digits. */
const MAX_DIGITS = 6
const NUMERAL = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(st|nd|rd|th)?$/

/** Returns words with their numbers in words. */
export function numbersToWords(words: readonly Word[]): Word[] {
  return words.flatMap((word, i) => {
    const text = numberInWords(word, words[i + 1]) ?? scaleWithCurrency(words[i - 1], word)
    if (text === undefined) return [word]
    const [first, ...rest] = text.split(' ')
    return divideTime(word, [
      beginsSentence(words[i - 1]) ? capitalize(first!, 'en') : first!,
      ...rest,
    ])
  })
}

function beginsSentence(before: Word | undefined): boolean {
  if (!before) return true
  const { core, possessive, after } = wordPartsOf(before.text)
  const kind = after === '.' ? abbreviationOf(core + possessive, 'en') : undefined
  return /[.!?…]["'”’)]*$/.test(before.text) && kind !== 'never-final' && kind !== 'numbered'
}

/**
 * Returns "million dollars" for the second word of "$3.5 million", and undefined for other words.
 */
function scaleWithCurrency(amount: Word | undefined, scale: Word): string | undefined {
  const currency = amount && numberInWords(amount, scale) && currencyBeforeScale(amount, scale)
  const parts = wordPartsOf(scale.text)
  return currency && withAffixes(parts, `${parts.core} ${currency.many}`)
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
function numberInWords(word: Word, next: Word | undefined): string | undefined {
  const parts = wordPartsOf(word.text)
  const nextCore = wordPartsOf(next?.text ?? '').core.toLowerCase()
  const [, hours, minutes] = /^(\d{1,2}):([0-5]\d)$/.exec(parts.core) ?? []
  if (hours !== undefined) {
    const time = timeInWords(Number(hours), Number(minutes), nextCore)
    return time && withAffixes(parts, time)
  }
  const numeral = readNumeral(parts.core)
  if (!numeral) return undefined
  const text = numeralInWords(numeral, nextCore)
  const symbol = parts.before.at(-1) ?? ''
  const withoutSymbol = { ...parts, before: parts.before.slice(0, -1) }
  const sign = SIGNS[symbol]
  if (sign) return withAffixes(withoutSymbol, `${sign} ${text}`)
  const currency = CURRENCIES[symbol]
  if (currency) {
    const isBeforeScale = currencyBeforeScale(word, next) !== undefined
    const amount = isBeforeScale ? text : moneyInWords({ ...numeral, text }, currency)
    return withAffixes(withoutSymbol, amount)
  }
  if (parts.after.startsWith('%')) {
    return withAffixes({ ...parts, after: parts.after.slice(1) }, `${text} percent`)
  }
  return withAffixes(parts, text)
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
  if (digits === '' || digits.length > 12 || isCode) return undefined
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
