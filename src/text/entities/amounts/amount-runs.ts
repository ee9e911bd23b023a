import type { DigitRun } from '../digits/digit-runs.ts'

const units =
  /^\s?(?:%|percent|per cent|dollars?|bucks|euros?|pounds?|cents?|years?|months?|weeks?|days?|hours?|minutes?|seconds?|people|miles|kilomet\w+|met(?:er|re)s|feet|degrees|million|thousand|billion|trillion|square|tons?)\b/i

/**
 * Returns whether digits are the number of a quantity: they are money, precede a unit, or contain a
 * decimal point.
 */
export function isMeasured(text: string, { from, to, spoken }: DigitRun): boolean {
  if (/[$€£]\s?$/.test(text.slice(Math.max(0, from - 2), from))) return true
  if (units.test(text.slice(to, to + 20))) return true
  return !spoken && /^(?:\d+|\d{1,3}(?:,\d{3})+)\.\d+$/.test(text.slice(from, to))
}

const spent =
  /\b(?:pa(?:id|ys?)|charged?|took|owed?|spent|costs?|balance|bill|total|price|refund(?:ed)?|fee)\b(?:(?!\b(?:cards?|visa|mastercard|amex|numbers?|digits?|account|end(?:s|ing)?|with|by|from|it['’]s)\b)[^.?!#]){0,35}$/i

/** Returns whether the text before digits is about money: "You took twelve fifty in March". */
export function isSpent(text: string, { from, digits }: DigitRun): boolean {
  return digits.length <= MAX_SPENT_DIGITS && spent.test(text.slice(Math.max(0, from - 60), from))
}

/** The most digits of an amount without a currency. */
const MAX_SPENT_DIGITS = 5

const tens =
  '(?:ten|eleven|twelve|\\w+teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -]\\w{3,5})?)'
/** Dollars and cents: two hundred forty-nine ninety-nine. */
const dollarsAndCents = new RegExp(`^\\w+ hundred ${tens} ${tens}$`, 'i')
/** Before the end of such an amount, the word "and" is no digit: two hundred and forty-nine. */
const largeBefore = /\b(?:hundred|thousand) and $/i

/**
 * Returns whether digits are grouped like an amount: "12,345,678", "two hundred forty-nine
 * ninety-nine". Recognizers also group digits that were dictated one by one.
 */
export function isGrouped(text: string, { from, to }: DigitRun): boolean {
  const run = text.slice(from, to)
  if (/^\d{1,3}(?:,\d{3})+$/.test(run) || dollarsAndCents.test(run)) return true
  return (
    run.length <= MAX_AMOUNT_CHARS && largeBefore.test(text.slice(Math.max(0, from - 14), from))
  )
}

/** The longest end of an amount: seventy-three seventy-three. */
const MAX_AMOUNT_CHARS = 27

/** Returns whether a number is in whole millions, which a personal number never is. */
export function isRound(digits: string): boolean {
  return digits.endsWith('000000')
}
