import type { Transcript, Utterance, Word } from '../../../transcript/transcript.ts'
import { capitalize } from '../letter-case.ts'
import { abbreviationOf } from '../sentences/abbreviations.ts'
import { mergeWords, type WordParts, wordPartsOf } from '../word-parts.ts'
import { dictatedDigitsAt } from './dictated-digits.ts'
import {
  parseSpokenNumber,
  type SpokenNumber,
  writeDigits,
  writeWords,
  writeYear,
} from './number-words.ts'

/** The languages whose numbers have a style. */
export const languages = ['en'] as const

/** The field `number_formatting_config`. */
export type NumberFormattingConfig = { style?: 'digits' | 'words' }

/**
 * Writes the numbers of a transcript in one style: as digits (the default) or as words. A number of
 * several words becomes one word, from the start of the first to the end of the last, with their
 * mean confidence. One that becomes several words divides its time among them by length.
 */
export function formatNumbers(
  { utterances, ...rest }: Transcript,
  { style = 'digits' }: NumberFormattingConfig = {},
): Transcript {
  const format = style === 'digits' ? toDigits : toWords
  const formatted = utterances.map((utterance): Utterance => {
    if (!languages.some((language) => language === utterance.language)) return utterance
    return { ...utterance, words: format(utterance.words) }
  })
  return { ...rest, utterances: formatted }
}

/**
 * Words after which a lone "one" is a number (page one); elsewhere it is a pronoun (no one, one of
 * us).
 */
const BEFORE_ONE =
  /^(?:press|dial|number|option|page|chapter|line|step|channel|version|part|level|room|gate|flight|extension|key|question|figure|table|act|scene|phase|zone|unit|lane|platform|door)$/
/** Words that follow a number, such as units: a "one" before them is not a pronoun. */
const AFTER_NUMBER =
  /^(?:percent|per|dollars?|cents?|euros?|point|hundred|thousand|million|billion|o'clock|a\.?m|p\.?m|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|minutes?|hours?|seconds?|years?|grams?|kilos?|pounds?|lit(?:er|re)s?|degrees?)$/
const TIME_OF_DAY = /^(?:a\.?m|p\.?m)\.?$/i
const SCALE = /^(?:hundred|thousand|million|billion|trillion)$/
/** After a number, these make it a fraction, an ordinal or a decade, which stays in words. */
const AFTER_WORD_NUMBER =
  /^(?:(?:hundred|thousand|million|billion)(?:ths?|s)|halves|thirds|quarters|(?:four|fif|six|seven|eigh|nin|ten)ths|(?:twen|thir|for|fif|six|seven|eigh|nine)ties)$/
/** After these, "eight thirty" is a time; "three fifty" may be a price or degrees. */
const BEFORE_CLOCK = /^(?:at|until|till|by|around|before|after)$/
/** After these, "eleven thirty" is a time, too; elsewhere it may be a year. */
const BEFORE_NOON_OR_LATER = /^(?:at|until|till|by|around|before|after|from|to|about)$/
/** After these, "thirty second" is a number of seconds. */
const BEFORE_DURATION = /^(?:an?|another|each|every|per|first|last|next)$/i
/** Ordinals below this stay in words: first of all, wait a second, third party. */
const MIN_DIGIT_ORDINAL = 10

function toDigits(words: readonly Word[]): Word[] {
  const written: Word[] = []
  for (let at = 0; at < words.length; ) {
    const spokenNumber = dictatedDigitsAt(words, at) ?? spokenNumberAt(words, at)
    if (!spokenNumber) {
      written.push(words[at++]!)
      continue
    }
    const replaced = words.slice(at, at + spokenNumber.count)
    const { before } = wordPartsOf(replaced[0]!.text)
    const { possessive, after } = wordPartsOf(replaced.at(-1)!.text)
    written.push(mergeWords(replaced, before + spokenNumber.text + possessive + after))
    at += spokenNumber.count
  }
  return written
}

/** Returns the digits of the number that begins at a word, and how many words they replace. */
function spokenNumberAt(
  words: readonly Word[],
  at: number,
): { text: string; count: number } | undefined {
  const { parts, wordIndexes } = unbrokenWords(words, at)
  const longNumber = readLongNumber(parts, precedingNumber(words, at))
  const number =
    longNumber?.isOrdinal && isDuration(words, { at, parts, number: longNumber })
      ? beforeUnit(parts, longNumber)
      : longNumber
  if (!number || AFTER_WORD_NUMBER.test(parts[number.words] ?? '')) return undefined
  const time = timeOfDay(number, { parts, wordIndexes, before: lowerCoreAt(words, at - 1) })
  if (time) return time
  if (number.isOrdinal && number.value < MIN_DIGIT_ORDINAL) return undefined
  if (number.value === 1 && number.words === 1 && isPronoun(words, at)) return undefined
  const decimals = number.isOrdinal ? [] : decimalsOf(parts.slice(number.words))
  const shared = sharedScale(words, { at, parts, number })
  const last = shared ? number.words - 1 : number.words + decimals.length
  // Twenty-five is one word of two parts: a number cannot end inside a word.
  if (wordIndexes[last] === wordIndexes[last - 1]) return undefined
  const text = shared ?? writeDigits(number.value, number) + decimals.join('')
  return { text, count: wordIndexes[last - 1]! + 1 }
}

function lowerCoreAt(words: readonly Word[], at: number): string {
  return wordPartsOf(words[at]?.text ?? '').core.toLowerCase()
}

/**
 * Returns the 10 of "five to ten thousand", a range of which both numbers have the scale; undefined
 * for other numbers.
 */
function sharedScale(
  words: readonly Word[],
  { at, parts, number }: { at: number; parts: readonly string[]; number: SpokenNumber },
): string | undefined {
  if (number.isOrdinal || !SCALE.test(parts[number.words - 1] ?? '')) return undefined
  const factor = parseSpokenNumber(parts.slice(0, number.words - 1))
  if (!factor || factor.words < number.words - 1 || factor.value > 999) return undefined
  const [link, from] = [lowerCoreAt(words, at - 1), lowerCoreAt(words, at - 3)]
  const first = lowerCoreAt(words, at - 2) === 'hundred' ? 100 : precedingNumber(words, at - 1)
  const isRange = /^(?:to|or)$/.test(link) || (link === 'and' && from === 'between')
  if (!isRange || !first || first >= factor.value) return undefined
  return writeDigits(factor.value)
}

/**
 * Returns whether "thirty second" is a duration: a thirty second break, the next thirty second
 * block.
 */
function isDuration(
  words: readonly Word[],
  { at, parts, number }: { at: number; parts: readonly string[]; number: SpokenNumber },
): boolean {
  const isSecond = number.words > 1 && parts[number.words - 1] === 'second'
  return isSecond && BEFORE_DURATION.test(wordPartsOf(words[at - 1]?.text ?? '').core)
}

function beforeUnit(parts: readonly string[], { words }: SpokenNumber): SpokenNumber | undefined {
  return parseSpokenNumber(parts.slice(0, words - 1))
}

/** Reads a number, also one that begins with "a": "a hundred and fifty"; "a hundred" is not one. */
function readLongNumber(
  parts: readonly string[],
  previous: number | undefined,
): SpokenNumber | undefined {
  if (parts[0] !== 'a' || !SCALE.test(parts[1] ?? '')) return parseSpokenNumber(parts, { previous })
  const number = parseSpokenNumber(['one', ...parts.slice(1)])
  return number && number.words > 2 ? number : undefined
}

/** Returns the number in the word before `at`, if no punctuation separates them. */
function precedingNumber(words: readonly Word[], at: number): number | undefined {
  const { core, possessive, after } = wordPartsOf(words[at - 1]?.text ?? '')
  return possessive + after === ''
    ? parseSpokenNumber(core.toLowerCase().split('-'))?.value
    : undefined
}

/** The parts of the longest number: nine hundred ninety-nine billion …, with "and" and decimals. */
const MAX_NUMBER_WORDS = 30

/**
 * Returns the words from `at` up to the next punctuation mark, in lower case and split at hyphens,
 * and for each of these parts the index of its word, counted from `at`.
 */
function unbrokenWords(words: readonly Word[], at: number) {
  const parts: string[] = []
  const wordIndexes: number[] = []
  for (let i = at; i < words.length && parts.length < MAX_NUMBER_WORDS; i++) {
    const { before, core, possessive, after } = wordPartsOf(words[i]!.text)
    if (core === '' || (before !== '' && i > at)) break
    for (const part of core.toLowerCase().split('-')) {
      parts.push(part)
      wordIndexes.push(i - at)
    }
    if (after !== '' || possessive !== '') break
  }
  return { parts, wordIndexes }
}

/** Writes "seven thirty p.m." as 7:30 and "seven oh five p.m." as 7:05. */
function timeOfDay(
  { value, words: count, isOrdinal }: SpokenNumber,
  {
    parts,
    wordIndexes,
    before,
  }: { parts: readonly string[]; wordIndexes: readonly number[]; before: string },
): { text: string; count: number } | undefined {
  if (isOrdinal || value < 1 || parts.slice(0, count).some((part) => SCALE.test(part)))
    return undefined
  const joined = value > 1000 ? { hours: Math.floor(value / 100), minutes: value % 100 } : undefined
  // `readYear` reads "eleven oh five" as one number.
  const zeros = parts.slice(0, count + 1).includes('oh') ? 1 : 0
  const from = joined ? count : count + zeros
  const next = joined ? undefined : parseSpokenNumber(parts.slice(from))
  const minutes = joined?.minutes ?? next?.value ?? 60
  const hours = joined?.hours ?? value
  const end = from + (next?.words ?? 0)
  const isMinute = zeros === 1 ? minutes > 0 && minutes < 10 : minutes >= 10 && minutes < 60
  if (hours > 12 || !isMinute) return undefined
  const after = parts[end] ?? ''
  const isClock = (joined ? BEFORE_NOON_OR_LATER : BEFORE_CLOCK).test(before)
  const isQuarter =
    (zeros === 1 || minutes % 15 === 0) &&
    isClock &&
    !AFTER_NUMBER.test(after) &&
    !parseSpokenNumber([after])
  if (!isQuarter && !TIME_OF_DAY.test(after)) return undefined
  return { text: `${hours}:${String(minutes).padStart(2, '0')}`, count: wordIndexes[end - 1]! + 1 }
}

/** Returns the decimals after a number, one string for each part: point, one, four. */
function decimalsOf(parts: readonly string[]): string[] {
  const decimals: string[] = []
  for (const [i, part] of parts.entries()) {
    if (part === 'point' && isDecimal(parts[i + 1])) decimals.push('.')
    else if (decimals.length > 0 && isDecimal(part)) decimals.push(String(digitOf(part)))
    else break
  }
  return decimals
}

function isDecimal(part: string | undefined): boolean {
  return part !== undefined && digitOf(part) !== undefined
}

function digitOf(part: string): number | undefined {
  const digit = parseSpokenNumber([part === 'oh' ? 'zero' : part])
  return digit && !digit.isOrdinal && digit.value < 10 ? digit.value : undefined
}

function isPronoun(words: readonly Word[], at: number): boolean {
  const [before, next] = [lowerCoreAt(words, at - 1), lowerCoreAt(words, at + 1)]
  if (BEFORE_ONE.test(before) || AFTER_NUMBER.test(next)) return false
  const isNumber = (core: string) =>
    /^\d/.test(core) || parseSpokenNumber([core])?.isOrdinal === false
  if (isNumber(before) || isNumber(next)) return false
  const isLinkedBefore = /^(?:to|or|oh)$/.test(before) && isNumber(lowerCoreAt(words, at - 2))
  const isLinkedAfter = /^(?:to|or|oh)$/.test(next) || (next === 'and' && before === 'between')
  return (
    !(isLinkedBefore && next !== 'of') && !(isLinkedAfter && isNumber(lowerCoreAt(words, at + 2)))
  )
}

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

function toWords(words: readonly Word[]): Word[] {
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
  const [, integerPart = '', decimals, suffix] = NUMERAL.exec(parts.core) ?? []
  const digits = integerPart.replaceAll(',', '')
  const isCode = digits === integerPart && (digits.length > MAX_DIGITS || /^0\d/.test(digits))
  if (digits === '' || digits.length > 12 || isCode) return undefined
  const value = Number(digits)
  const isYear = integerPart.length === 4 && !decimals && value >= 1100 && value < 2100
  let text = writeWords(value, { isOrdinal: suffix !== undefined })
  if (isYear && !AFTER_NUMBER.test(nextCore) && value % 1000 > 9) text = writeYear(value)
  if (decimals)
    text += ` point ${[...decimals].map((digit) => writeWords(Number(digit))).join(' ')}`
  const sign = SIGNS[parts.before.at(-1) ?? '']
  if (sign) return withAffixes({ ...parts, before: parts.before.slice(0, -1) }, `${sign} ${text}`)
  const currency = CURRENCIES[parts.before.at(-1) ?? '']
  if (currency) {
    const isBeforeScale = currencyBeforeScale(word, next) !== undefined
    if (!isBeforeScale) text = moneyInWords({ value, decimals, text }, currency)
    return withAffixes({ ...parts, before: parts.before.slice(0, -1) }, text)
  }
  if (parts.after.startsWith('%')) {
    return withAffixes({ ...parts, after: parts.after.slice(1) }, `${text} percent`)
  }
  return withAffixes(parts, text)
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
