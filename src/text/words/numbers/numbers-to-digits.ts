import type { Word } from '../../../transcript/transcript.ts'
import { mergeWords, wordPartsOf } from '../word-parts.ts'
import { isBeforePartOfDay, isPlacedInTime, isStreetAt } from './clock-context.ts'
import { bareDecimal, decimalsOf, dictatedDecimal, digitOf } from './decimals.ts'
import { dictatedDigitsAt } from './dictated-digits.ts'
import { readDottedNumber } from './dotted-numbers.ts'
import { keptWordsAt, writtenExpressionAt } from './fixed-expressions.ts'
import { AFTER_NUMBER, COUNTED, LABEL, SCALE, TIME_OF_DAY } from './number-context.ts'
import { parseSpokenNumber, type SpokenNumber, writeDigits } from './number-words.ts'
import { isBodyValue } from './pairs/body-values.ts'
import { priceOf } from './pairs/prices.ts'
import { unclearNumberAt } from './pairs/unclear-pairs.ts'

/** After a number, these make it a fraction, an ordinal or a decade, which stays in words. */
const AFTER_WORD_NUMBER =
  /^(?:(?:hundred|thousand|million|billion|trillion)(?:ths?|s)|halves|thirds|quarters|tens|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|(?:thir|four|fif|six|seven|eigh|nine)teen)ths|(?:twen|thir|for|fif|six|seven|eigh|nine)tie(?:s|ths))$/
/** After these, "two twenty" is 220, too. */
const BEFORE_THREE_DIGITS = /^(?:extension|room|flight|page|channel|route|highway)$/
/** After these, "eight thirty" is a time; "three fifty" may be a price or degrees. */
const BEFORE_CLOCK = /^(?:at|until|till|by|around|before|after)$/
/** After these, "eleven thirty" is a time, too; elsewhere it may be a year. */
const BEFORE_NOON_OR_LATER = /^(?:at|until|till|by|around|before|after|from|to|about)$/
/** Shortly after these, "two fifty in the morning" is a dose, a measured value or a result. */
const MEASURED =
  /^(?:weigh(?:s|ed|ing)?|weight|sugars?|glucose|pressure|rate|tak(?:es?|ing)|took|dos(?:es?|age)|s(?:old|ells?)|bowl(?:s|ed|ing)?|batting)$/
/** After these, "thirty second" is a number of seconds. */
const BEFORE_DURATION = /^(?:an?|another|each|every|per|first|last|next)$/i
/** After these, "eight thirty" before a street is the number of a house. */
const BEFORE_HOUSE = /^(?:at|to|from)$/
/** Before a list of numbers: rooms two twenty-one and two twenty-two. */
const LABELS = /^(?:extension|room|flight|page|channel|route|highway|number|line|gate)s$/
const AIRLINER = /^7[0-8]7$/
const BEFORE_AIRLINER = /^(?:an?|the|boeing)$/
/** The tens of a decade or a century, by their plural. */
const DECADES: Record<string, string> = {
  hundreds: '00s',
  twenties: '20s',
  thirties: '30s',
  forties: '40s',
  fifties: '50s',
  sixties: '60s',
  seventies: '70s',
  eighties: '80s',
  nineties: '90s',
}
/** Lower values of a blood pressure are rare: "two fifty over ten years" is a price. */
const MIN_LOWER_PRESSURE = 30
/** Shortly after these, "to three fifty" is a number of degrees. */
const OVEN = /^(?:ovens?|preheat(?:ed|ing)?|bak(?:e|ing)|roast(?:ing)?)$/
/** In degrees Fahrenheit, or Celsius. */
const [MIN_HEAT, MAX_HEAT] = [200, 550]
/** How many words before a number may say what it is. */
const MAX_CUE_DISTANCE = 8
/** Ordinals below this stay in words: first of all, wait a second, third party. */
const MIN_DIGIT_ORDINAL = 10

/** A number that begins at the word `at`, with `unbrokenWords` from there. */
type NumberInContext = {
  at: number
  parts: readonly string[]
  wordIndexes: readonly number[]
  number: SpokenNumber
}

/** Returns words with their numbers in digits. */
export function numbersToDigits(words: readonly Word[]): Word[] {
  const written: Word[] = []
  for (let at = 0; at < words.length; ) {
    const kept = keptWordsAt(words, at)
    written.push(...words.slice(at, at + kept))
    at += kept
    if (kept > 0) continue
    const spokenNumber =
      writtenExpressionAt(words, at) ??
      decimalAt(words, at) ??
      dictatedDigitsAt(words, at) ??
      spokenNumberAt(words, at)
    const unchanged = spokenNumber ? unclearWordsAt(words, at, spokenNumber.text) : 1
    if (!spokenNumber || unchanged > 0) {
      written.push(...words.slice(at, at + unchanged))
      at += unchanged
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

/** Returns how many words stay in words because what they would become as digits is unclear. */
function unclearWordsAt(words: readonly Word[], at: number, digits: string): number {
  const { parts } = unbrokenWords(words, at)
  const preceding = isAfterMark(words, at) ? [] : lowerCoresBefore(words, at)
  return unclearNumberAt(words, at, { parts, preceding, digits })
}

/** Returns a decimal without a whole number, or one whose digits are dictated one by one. */
function decimalAt(
  words: readonly Word[],
  at: number,
): { text: string; count: number } | undefined {
  const { parts, wordIndexes } = unbrokenWords(words, at)
  const before = isAfterMark(words, at) ? '' : lowerCoreAt(words, at - 1)
  const decimal = bareDecimal(parts, { before }) ?? dictatedDecimal(parts)
  const count = decimal && countWords(wordIndexes, decimal.words)
  return count === undefined ? undefined : { text: decimal!.text, count }
}

/** Returns the digits of the number that begins at a word, and how many words they replace. */
function spokenNumberAt(
  words: readonly Word[],
  at: number,
): { text: string; count: number } | undefined {
  const { parts, wordIndexes } = unbrokenWords(words, at)
  const dotted = readDottedNumber(parts)
  const dottedWords = dotted && countWords(wordIndexes, dotted.words)
  if (dottedWords) return { text: dotted.text, count: dottedWords }
  const longNumber = readLongNumber(parts, precedingNumber(words, at))
  const number =
    longNumber?.isOrdinal && isDuration(words, { at, parts, number: longNumber })
      ? beforeUnit(parts, longNumber)
      : longNumber
  const decade = number && decadeAfter(number, parts)
  const decadeWords = decade && countWords(wordIndexes, number.words + 1)
  if (decadeWords) return { text: decade, count: decadeWords }
  if (!number || AFTER_WORD_NUMBER.test(parts[number.words] ?? '')) return undefined
  const time = timeOfDay(words, { at, parts, wordIndexes, number })
  if (time) return time
  const price = priceOf(parts, { number, preceding: lowerCoresBefore(words, at) })
  const priceWords = price && countWords(wordIndexes, price.words)
  if (priceWords) return { text: price.text, count: priceWords }
  if (number.isOrdinal && number.value < MIN_DIGIT_ORDINAL) return undefined
  const label = threeDigitLabel(words, { at, parts, wordIndexes, number })
  if (label) return label
  if (number.value === 1 && number.words === 1 && isPronoun(words, at)) return undefined
  const decimals = number.isOrdinal ? [] : decimalsOf(parts.slice(number.words))
  const shared = sharedScale(words, { at, parts, number })
  const last = shared ? number.words - 1 : number.words + decimals.length
  const count = countWords(wordIndexes, last)
  const text = shared ?? writeDigits(number.value, number) + decimals.join('')
  return count === undefined ? undefined : { text, count }
}

/**
 * Returns how many words consist of the first `count` parts; undefined if these end inside a word:
 * the number of "twenty-five-year-old" is not a word.
 */
function countWords(wordIndexes: readonly number[], count: number): number | undefined {
  const isInside = wordIndexes[count] === wordIndexes[count - 1]
  return isInside ? undefined : wordIndexes[count - 1]! + 1
}

/** Returns "nineteen eighties" as 1980s and "eighteen hundreds" as 1800s. */
function decadeAfter({ value, words }: SpokenNumber, parts: readonly string[]): string | undefined {
  const tens = DECADES[parts[words] ?? '']
  return tens && words === 1 && value > 10 && value <= 20 ? value + tens : undefined
}

/**
 * Returns "one twenty-three" as 123 where something shows that these are the digits of one number:
 * a label (room, extension), the name of a street after it, or a measured value. Elsewhere "nine
 * forty-eight" may be a time, a price or a number.
 */
function threeDigitLabel(
  words: readonly Word[],
  { at, parts, wordIndexes, number: { value, isOrdinal, words: count } }: NumberInContext,
): { text: string; count: number } | undefined {
  const isLabel = !isOrdinal && count === 1 && value > 0 && value < 10
  const tens = isLabel && lastTwoDigits(parts.slice(1))
  if (!tens) return undefined
  const last = tens.words + 1
  const [before, after] = [lowerCoreAt(words, at - 1), parts[last] ?? '']
  const decimals = decimalsOf(parts.slice(last)).join('')
  // One ninety degree angle and two of them are no numbers of three digits.
  const isCounted = after === 'degree' && !/^an?$/.test(before)
  const isMeasured =
    decimals !== '' ||
    (!isCounted && isMeasure(parts.slice(last))) ||
    (value <= 2 && isBodyValue(lowerCoresBefore(words, at), after))
  const end = countWords(wordIndexes, last + decimals.length)
  if (end === undefined || precedingNumber(words, at) !== undefined) return undefined
  const isNumber =
    ![AFTER_NUMBER, AFTER_WORD_NUMBER, COUNTED].some((pattern) => pattern.test(after)) &&
    !parseSpokenNumber([after.replace(/^oh$/, 'zero')])
  const isLabeled =
    BEFORE_THREE_DIGITS.test(before) ||
    isStreetAt(words, at + end) ||
    isOvenHeat(words, { at, heat: value * 100 + Number(tens.text) }) ||
    (!tens.isVague && isNamed(words, { at, digits: value + tens.text }))
  return isMeasured || (isLabeled && isNumber)
    ? { text: `${value}${tens.text}${decimals}`, count: end }
    : undefined
}

/** Returns whether digits name a thing: step 122, rooms 221 and 222, the 747. */
function isNamed(words: readonly Word[], { at, digits }: { at: number; digits: string }): boolean {
  const before = lowerCoreAt(words, at - 1)
  if (LABEL.test(before) || (AIRLINER.test(digits) && BEFORE_AIRLINER.test(before))) return true
  const isListed = before.endsWith('s') || /^(?:and|or|to|through)$/.test(before)
  return isListed && lowerCoresBefore(words, at).some((core) => LABELS.test(core))
}

/** Returns whether "to three fifty" is the heat of an oven. */
function isOvenHeat(words: readonly Word[], { at, heat }: { at: number; heat: number }): boolean {
  const isHeat = heat % 25 === 0 && heat >= MIN_HEAT && heat <= MAX_HEAT
  if (!isHeat || !/^(?:to|at)$/.test(lowerCoreAt(words, at - 1))) return false
  return lowerCoresBefore(words, at).some((core) => OVEN.test(core))
}

/** Reads twenty-three as 23 and "oh five" as 05; `isVague` unless it is the former. */
function lastTwoDigits(parts: readonly string[]) {
  const digit = parts[0] === 'oh' ? digitOf(parts[1] ?? '') : undefined
  if (digit) return { text: `0${digit}`, words: 2, isVague: true }
  const number = parseSpokenNumber(parts)
  if (number?.isOrdinal !== false || number.value < 10 || number.value > 99) return undefined
  return { text: String(number.value), words: number.words, isVague: number.words === 1 }
}

/** Returns whether words follow a measured value: degrees, pounds, "over eighty" of a pressure. */
function isMeasure([first, ...rest]: readonly string[]): boolean {
  if (first !== 'over') return /^(?:degrees?|pounds)$/.test(first ?? '')
  const lower = parseSpokenNumber(rest)
  return lower !== undefined && lower.value >= MIN_LOWER_PRESSURE && lower.value < 100
}

/** Returns the words shortly before an index in the same sentence, in lower case. */
function lowerCoresBefore(words: readonly Word[], at: number): string[] {
  const near = words.slice(Math.max(0, at - MAX_CUE_DISTANCE), at)
  const before = near.slice(near.findLastIndex(({ text }) => /[.!?]$/.test(text)) + 1)
  return before.map(({ text }) => wordPartsOf(text).core.toLowerCase())
}

/** Returns whether a word is the first one, or follows a punctuation mark. */
function isAfterMark(words: readonly Word[], at: number): boolean {
  return at === 0 || wordPartsOf(words[at - 1]!.text).after !== ''
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
  { at, parts, number }: Omit<NumberInContext, 'wordIndexes'>,
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
  { at, parts, number }: Omit<NumberInContext, 'wordIndexes'>,
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
    ? parseSpokenNumber(core.toLowerCase().replace(/^oh$/, 'zero').split('-'))?.value
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
  words: readonly Word[],
  { at, parts, wordIndexes, number }: NumberInContext,
): { text: string; count: number } | undefined {
  const { value, words: numberWords, isOrdinal } = number
  if (isOrdinal || value < 1 || parts.slice(0, numberWords).some((part) => SCALE.test(part)))
    return undefined
  const hasOh = parts.slice(0, numberWords + 1).includes('oh')
  const clock = hoursAndMinutes(number, parts, { hasOh })
  const count = clock && countWords(wordIndexes, clock.end)
  if (count === undefined) return undefined
  const { hours, minutes, end } = clock!
  const isMinute = hasOh ? minutes > 0 && minutes < 10 : minutes >= 10 && minutes < 60
  if (hours > 12 || !isMinute) return undefined
  const after = parts[end] ?? ''
  const place = { at, end: at + count }
  const before = lowerCoreAt(words, at - 1)
  const beforeTime = isYearLike(number) ? BEFORE_NOON_OR_LATER : BEFORE_CLOCK
  const isOther = isLabelOrMeasure(words, at)
  const isLikelyTime =
    (hasOh || minutes % 15 === 0) &&
    (beforeTime.test(before) || (!isOther && isPlacedInTime(words, place))) &&
    !AFTER_NUMBER.test(after) &&
    !parseSpokenNumber([after]) &&
    // "Ten thirty" is no number of a house that could be joined.
    (value === 10 || !BEFORE_HOUSE.test(before) || !isStreetAt(words, place.end))
  const isTime =
    isLikelyTime || TIME_OF_DAY.test(after) || (!isOther && isBeforePartOfDay(words, place))
  return isTime ? { text: `${hours}:${String(minutes).padStart(2, '0')}`, count } : undefined
}

/** Returns whether the words before a number say that it is no time: room, weighs, but not at. */
function isLabelOrMeasure(words: readonly Word[], at: number): boolean {
  const before = lowerCoreAt(words, at - 1)
  if (LABEL.test(before)) return true
  const isMeasured = lowerCoresBefore(words, at).some((core) => MEASURED.test(core))
  return isMeasured && !BEFORE_NOON_OR_LATER.test(before)
}

/** Returns the hours, the minutes, and the index of the part after them. */
function hoursAndMinutes(
  number: SpokenNumber,
  parts: readonly string[],
  { hasOh }: { hasOh: boolean },
): { hours: number; minutes: number; end: number } | undefined {
  const { value, words: count } = number
  if (isYearLike(number)) {
    return { hours: Math.floor(value / 100), minutes: value % 100, end: count }
  }
  const from = hasOh ? count + 1 : count
  const next = parseSpokenNumber(parts.slice(from))
  return next && { hours: value, minutes: next.value, end: from + next.words }
}

/** Returns whether a number without scale was read as a year, as "eleven oh five" is. */
function isYearLike({ value }: SpokenNumber): boolean {
  return value > 1000
}

function isPronoun(words: readonly Word[], at: number): boolean {
  const [before, next] = [lowerCoreAt(words, at - 1), lowerCoreAt(words, at + 1)]
  if (LABEL.test(before)) return false
  const isDigitNext = digitOf(lowerCoreAt(words, at + 2)) !== undefined
  const isDecimalNext = decimalsOf(unbrokenWords(words, at).parts.slice(1)).length > 0
  // "At one point twenty people came": only digits make it a decimal.
  if (next === 'point') return before === 'at' ? !isDigitNext : !isDecimalNext
  if (AFTER_NUMBER.test(next)) return false
  const isNumber = (core: string) =>
    /^\d/.test(core) || parseSpokenNumber([core])?.isOrdinal === false
  if (isNumber(before) || isNumber(next)) return false
  const isLinkedBefore =
    /^(?:to|through|or|oh)$/.test(before) && isNumber(lowerCoreAt(words, at - 2))
  const isLinkedAfter =
    /^(?:to|through|or|oh)$/.test(next) || (next === 'and' && before === 'between')
  if (/^(?:double|triple|treble)$/.test(next) && isDigitNext) return false
  return (
    !(isLinkedBefore && next !== 'of') && !(isLinkedAfter && isNumber(lowerCoreAt(words, at + 2)))
  )
}
