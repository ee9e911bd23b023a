import { parseSpokenNumber, type SpokenNumber } from './number-words.ts'

/** What a price is for: nineteen ninety-nine a month. */
const UNIT =
  /^(?:month|year|week|day|night|hour|person|piece|pop|head|seat|user|pound|gallon|ticket|bottle|box|share)$/
const AFTER_PRICE = /^(?:|and|or|for|with|plus|but|if)$/
/** Before these, what may be a year is none: it is nineteen ninety-nine a month. */
const BEFORE_PRICE =
  /^(?:|is|it|that|are|for|at|just|only|under|over|than|costs?|pa(?:y|ys|id)|charge[sd]?|now|plus)$/
/** Lower prices, such as twelve ninety-nine, are seldom years. */
const MIN_YEAR = 1300
/** Before these, "twelve ninety-nine a year" is a year, too. */
const BEFORE_YEAR = /^(?:in|since|until|till|by|of|year|during|after|before|from|to)$/
/** The last hour of a clock: "at eleven fifty-nine each night" is a time. */
const MAX_HOUR = 12
/** Sums of these are hundreds: the rent is twelve ninety-five a month. */
const LARGE_SUM =
  /^(?:rents?|rented|leases?|leased|mortgages?|salary|salaries|apartments?|condos?)$/

/**
 * Returns "nineteen ninety-nine a month" as 19.99, and of how many parts the number consists. Only
 * prices that end like those of shops (19.99, 24.95) count, from ten on: "two ninety-nine a month"
 * and "twelve fifty a month" may be hundreds. `preceding` are the words before it in lower
 * case, the nearest last.
 */
export function priceOf(
  parts: readonly string[],
  { number, preceding }: { number: SpokenNumber; preceding: readonly string[] },
): { text: string; words: number } | undefined {
  const { dollars, cents, words } = dollarsAndCents(parts, number) ?? {}
  if (dollars === undefined || cents === undefined || words === undefined) return undefined
  if (cents < 29 || (cents % 10 !== 9 && cents !== 95)) return undefined
  const [article = '', unit = '', after = ''] = parts.slice(words)
  const isPer = article === 'per'
  const isEach = article === 'each' && dollars > MAX_HOUR
  if (
    !UNIT.test(unit) ||
    !(isPer || ((isEach || /^an?$/.test(article)) && AFTER_PRICE.test(after)))
  )
    return undefined
  const before = preceding.at(-1) ?? ''
  const mayBeYear = number.value >= MIN_YEAR
  if (mayBeYear ? !BEFORE_PRICE.test(before) : BEFORE_YEAR.test(before)) return undefined
  if (preceding.some((word) => LARGE_SUM.test(word))) return undefined
  return { text: `${dollars}.${cents}`, words }
}

/** Divides "nineteen ninety-nine", which may be a year, and "forty-nine ninety-five". */
function dollarsAndCents(parts: readonly string[], { value, words, isOrdinal }: SpokenNumber) {
  if (isOrdinal || value < 10) return undefined
  if (value > 1000 && parts[1] !== 'thousand' && parts[1] !== 'hundred') {
    return { dollars: Math.floor(value / 100), cents: value % 100, words }
  }
  const cents = parseSpokenNumber(parts.slice(words))
  if (cents?.isOrdinal !== false || cents.value > 99) return undefined
  return { dollars: value, cents: cents.value, words: words + cents.words }
}
