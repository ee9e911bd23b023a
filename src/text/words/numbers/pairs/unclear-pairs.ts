import type { Word } from '../../../../transcript/transcript.ts'
import { isFunctionWordInText } from '../../letter-case.ts'
import { wordPartsOf } from '../../word-parts.ts'
import { isStreetAt } from '../clock-context.ts'
import { AFTER_NUMBER, COUNTED, LABEL, SCALE } from '../number-context.ts'
import { parseNumberPair, parseSpokenNumber } from '../number-words.ts'
import { isLargeSum, isPriceCue, mayBePrice } from './prices.ts'

/** Singular units that say of what size something is: two ten pound bags. */
const SIZE =
  /^(?:percent|dollar|cent|euro|pound|kilo|gram|milligram|ounce|gallon|lit(?:er|re)|inch|foot|yard|mile|(?:kilo|centi|milli)?met(?:er|re)|second|minute|hour|day|night|week|month|year|degree|man|person|page|piece|point|star|bedroom|volt|watt|amp|acre)$/
/** Shortly after these, numbers in a row are parts of one code. */
const CODE =
  /^(?:codes?|pins?|numbers?|passwords?|cards?|ending|digits|accounts?|zip|postcode|ids?|phone|lottery|combination|serial|locker)$/
const BEFORE_YEAR = /^(?:in|since|until|till|by|of|year|during|after|before|from|to)$/
/** Before what may be a time, these show a year: in eleven fifty. */
const BEFORE_EARLY_YEAR = /^(?:in|since|year|of|circa)$/
const LAST_HOUR = 12
const BIRTH = /^(?:born|birth|birthdays?|birthdate|dob)$/
/** Units of time, which "in fifteen twenty" can count: in fifteen twenty minutes. */
const TIME_SPAN = /^(?:seconds|minutes|hours|days|weeks|months|years)$/

/** Two numbers below a hundred, and what is around them. */
type Pair = ReturnType<typeof parseNumberPair> & { parts: readonly string[]; before: string }

/**
 * Returns how many words from `at` stay in words because two numbers stand side by side whose
 * meaning is unclear: "it was two fifty" may be 2.50, 250 or 2:50, and "fifteen twenty minutes" is
 * neither 1520 nor 15 20. Of "two ten pound bags", only "two" stays. `parts` are the words up to
 * the next mark, `preceding` those before, in lower case; `digits` is what they would become.
 */
export function unclearNumberAt(
  words: readonly Word[],
  at: number,
  { parts, preceding, digits }: { parts: readonly string[]; preceding: string[]; digits: string },
): number {
  const before = preceding.at(-1) ?? ''
  if (isBeforeSize(parts, before) && digits.length === 1) return 1
  const read = parseNumberPair(parts)
  if (!read || read.first === 0 || isNumber(before) || LABEL.test(before)) return 0
  const isPrice = isPriceCue(preceding)
  if (!isPrice && preceding.some((word) => CODE.test(word))) return 0
  const date = lengthOfDate(parts, preceding)
  if (date > 0) return countWords(words, at, date)
  if (isNumber(parts[read.words] ?? '')) return 0
  const pair = { ...read, parts, before }
  const count = countWords(words, at, read.words)
  if (digits === String(100 * read.first + read.second)) {
    const isUnclear =
      isPrice ||
      isVagueRange(pair) ||
      (isStreetAt(words, at + count)
        ? isQuarterHour(pair) && before === 'at' && preceding.length === 1
        : mayBeNoYear(pair, preceding))
    return isUnclear ? count : 0
  }
  // Other numbers of both words, such as 2:50 and 2.50, are clear.
  if (digits !== String(read.first)) return 0
  // Digits without other words around them are dictated.
  if (read.hasOh) return before === '' && !parts[read.words] ? 0 : count
  const isRow = read.second < 10 || /^(?:point|dot|over|o'clock)$/.test(parts[read.words] ?? '')
  return isRow ? 0 : count
}

/**
 * Returns how many parts a month, a day and a year have, as in "five twelve eighty-four", of which
 * the last two would be read as a year; 0 if it is none.
 */
function lengthOfDate(parts: readonly string[], preceding: readonly string[]): number {
  const month = parseSpokenNumber(parts)
  const date = month && parseNumberPair(parts.slice(month.words))
  if (!date || month.isOrdinal || month.value > 12 || date.first < 11) return 0
  const isYear = date.first > 18 && !preceding.some((word) => BIRTH.test(word))
  const count = month.words + date.words
  return isYear || date.first > 31 || isNumber(parts[count] ?? '') ? 0 : count
}

/**
 * Returns whether what was read as a year may be a price, as in "fourteen fifty an hour", or a time
 * as well, as in "it's eleven fifty", but not in "in eleven fifty" or "the rent is twelve fifty".
 */
function mayBeNoYear({ first, parts, words, before }: Pair, preceding: readonly string[]): boolean {
  if (first <= 10 || isLargeSum(preceding)) return false
  const isEarly = first <= LAST_HOUR && !BEFORE_EARLY_YEAR.test(before)
  return isEarly || mayBePrice(parts.slice(words), preceding)
}

/** Returns whether a number below ten counts things of a size: "two" of "two ten pound bags". */
function isBeforeSize([first = '', ...parts]: readonly string[], before: string): boolean {
  const size = isNumber(first) && !isNumber(before) ? parseSpokenNumber(parts) : undefined
  const [unit = '', thing = ''] = size && !size.isOrdinal ? parts.slice(size.words) : []
  // A two fifty pound man weighs 250 pounds.
  if (!SIZE.test(unit) || LABEL.test(before) || (first !== 'one' && /^an?$/.test(before)))
    return false
  return thing !== '' && !isFunctionWordInText(thing)
}

/** Returns whether the numbers may be a time: at nine fifteen Diane Lane arrived. */
function isQuarterHour({ first, second }: Pair): boolean {
  return first <= 12 && second < 60 && second % 15 === 0
}

/** Returns whether the numbers are two guesses: fifteen twenty minutes, thirty forty people. */
function isVagueRange({ first, second, parts, words, before }: Pair): boolean {
  const unit = parts[words] ?? ''
  const isUnit = AFTER_NUMBER.test(unit) || COUNTED.test(unit)
  if (!isUnit || !/s$|^(?:people|percent|feet)$/.test(unit)) return false
  if (BEFORE_YEAR.test(before) && !TIME_SPAN.test(unit)) return false
  return second > first && second <= 2 * first
}

/** Returns how many words have the first `count` parts; 0 if these end inside a word. */
function countWords(words: readonly Word[], at: number, count: number): number {
  let left = count
  for (let i = at; i < words.length; i++) {
    left -= wordPartsOf(words[i]!.text).core.split('-').length
    if (left <= 0) return left === 0 ? i - at + 1 : 0
  }
  return 0
}

function isNumber(core: string): boolean {
  if (/^\d/.test(core) || /^(?:oh|double|triple|treble)$/.test(core) || SCALE.test(core))
    return true
  return parseSpokenNumber(core.split('-')) !== undefined
}
