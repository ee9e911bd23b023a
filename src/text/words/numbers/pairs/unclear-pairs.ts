import type { Word } from '../../../../transcript/transcript.ts'
import { isFunctionWordInText } from '../../letter-case.ts'
import { wordPartsOf } from '../../word-parts.ts'
import { isStreetAt } from '../clock-context.ts'
import { AFTER_NUMBER, COUNTED, LABEL, SCALE } from '../number-context.ts'
import { parseNumberPair, parseSpokenNumber } from '../number-words.ts'
import { isPriceCue } from './prices.ts'

/** Singular units that say of what size something is: two ten pound bags. */
const SIZE =
  /^(?:percent|dollar|cent|euro|pound|kilo|gram|milligram|ounce|gallon|lit(?:er|re)|inch|foot|yard|mile|(?:kilo|centi|milli)?met(?:er|re)|second|minute|hour|day|night|week|month|year|degree|man|person|page|piece|point|star|bedroom|volt|watt|amp|acre)$/
/** Shortly after these, numbers in a row are parts of one code. */
const CODE =
  /^(?:codes?|pins?|numbers?|passwords?|cards?|ending|digits|accounts?|zip|postcode|ids?|phone|lottery|combination|serial|locker)$/
const BEFORE_YEAR = /^(?:in|since|until|till|by|of|year|during|after|before|from|to)$/
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
  if (!read || read.first === 0 || isNumber(before) || isNumber(parts[read.words] ?? '')) return 0
  if (LABEL.test(before) || preceding.some((word) => CODE.test(word))) return 0
  const pair = { ...read, parts, before }
  if (digits === String(100 * read.first + read.second)) {
    const count = countWords(words, at, read.words)
    const mayBeTime = isQuarterHour(pair) && before === 'at' && preceding.length === 1
    const isUnclear =
      isVagueRange(pair) || isPriceCue(preceding) || (mayBeTime && isStreetAt(words, at + count))
    return isUnclear ? count : 0
  }
  // Other numbers of both words, such as 2:50 and 2.50, are clear.
  if (digits !== String(read.first)) return 0
  const isRow = read.second < 10 || /^(?:point|dot|over|o'clock)$/.test(parts[read.words] ?? '')
  return isRow ? 0 : countWords(words, at, read.words)
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
