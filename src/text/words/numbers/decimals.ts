import { isFunctionWordInText } from '../letter-case.ts'
import { AFTER_NUMBER } from './number-context.ts'
import { parseSpokenNumber } from './number-words.ts'

/** Fewer digits before "point" may be two numbers: one two point five milligram tablet. */
const MIN_DICTATED_DIGITS = 3
/** Before "point five percent", these show that the point is that of a decimal. */
const BEFORE_BARE_DECIMAL =
  /^(?:|about|at|around|by|down|from|give|is|just|minus|nearly|negative|of|only|or|over|plus|take|than|to|under|up|was)$/
const UNIT_OF_DOSE = /^(?:milligrams?|micrograms?|millilit(?:er|re)s?|mg|mcg|ml)$/

/**
 * Returns the decimals after a number, one string for each part: point, one, four, or point,
 * twelve. A version may have several: ten point fifteen point seven.
 */
export function decimalsOf(parts: readonly string[]): string[] {
  if (parts[0] !== 'point') return []
  const count = parts.slice(1).findIndex((part) => !isDecimal(part))
  const digits = parts.slice(1, count < 0 ? undefined : count + 1).map(digitOf)
  const decimals = digits.length > 0 ? ['.', ...digits.map(String)] : twoDecimalsOf(parts)
  return decimals.length > 0 ? [...decimals, ...decimalsOf(parts.slice(decimals.length))] : []
}

/** Reads "point twelve" and "point twenty-five", but not "a twenty point twelve rebound night". */
function twoDecimalsOf([, ...parts]: readonly string[]): string[] {
  const number = parseSpokenNumber(parts)
  if (number?.isOrdinal !== false || number.value > 99) return []
  const after = parts[number.words] ?? ''
  const isUnit = AFTER_NUMBER.test(after) || UNIT_OF_DOSE.test(after)
  if (after !== '' && !isUnit && !isFunctionWordInText(after)) return []
  const digits = String(number.value)
  return ['.', ...(number.words === 1 ? [digits] : digits)]
}

/** Returns "one one eight point seven" as 118.7, and of how many parts it consists. */
export function dictatedDecimal(
  parts: readonly string[],
): { text: string; words: number } | undefined {
  const count = parts.findIndex((part) => digitOf(part) === undefined)
  const decimals = count < MIN_DICTATED_DIGITS ? [] : decimalsOf(parts.slice(count))
  // "Zero one zero point five" is a row of numbers.
  if (decimals.length === 0 || digitOf(parts[0]!) === 0) return undefined
  const digits = parts.slice(0, count).map(digitOf)
  return { text: [...digits, ...decimals].join(''), words: count + decimals.length }
}

/** Returns "point five percent" as 0.5, and of how many parts it consists. */
export function bareDecimal(
  parts: readonly string[],
  { before }: { before: string },
): { text: string; words: number } | undefined {
  const decimals = decimalsOf(parts)
  const unit = parts[decimals.length] ?? ''
  if (decimals.length === 0 || !BEFORE_BARE_DECIMAL.test(before)) return undefined
  if (!AFTER_NUMBER.test(unit) && !UNIT_OF_DOSE.test(unit)) return undefined
  return { text: `0${decimals.join('')}`, words: decimals.length }
}

function isDecimal(part: string | undefined): boolean {
  return part !== undefined && digitOf(part) !== undefined
}

/** Returns the digit that a word means; "oh" is zero. */
export function digitOf(part: string): number | undefined {
  const digit = parseSpokenNumber([part === 'oh' ? 'zero' : part])
  return digit && !digit.isOrdinal && digit.value < 10 ? digit.value : undefined
}
