import { isFunctionWordInText } from '../../letter-case.ts'
import { parseSpokenNumber, type SpokenNumber } from '../number-words.ts'

/** What a price is for: nineteen ninety-nine a month. */
const UNIT =
  /^(?:month|year|week|day|night|hour|person|piece|pop|head|seat|user|pound|gallon|ticket|bottle|box|share)$/
/** Of these, "a month" may also be later than a year. */
const CALENDAR = /^(?:month|year|week|day|night)$/
/** Of these, a price is never hundreds: three seventy-nine a gallon. */
const SMALL_UNIT = /^(?:gallon|pound|ounce|lit(?:er|re)|cup|slice|pint|scoop|loaf|dozen)$/
/** Things that cost a few dollars each: the coffee, but not a coffee table. */
const SMALL_THING =
  /^(?:coffee|latte|espresso|cappuccino|tea|soda|coke|lemonade|juice|milk|bread|butter|sandwich|bagel|muffin|donut|cookie|burger|hot-?dog|taco|beer|pint|fries|popcorn|candy|stamp)(?:e?s)?$/
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
/** Words before a price, such as "it costs you only". */
const COST =
  / (?:cost(?:s|ing)?|paid|pay(?:s|ing)?|charg(?:es?|ed|ing)|earn(?:s|ed)?|worth|priced at|s(?:old|ells) for|prices? (?:is|are|was|were))(?: (?:me|us|you|him|her|them|it))?(?: (?:only|just|about|around|like|for))?$/
/** Words of a cashier. */
const TILL =
  / (?:that(?:['’]ll| will) be|(?:comes?|came) (?:out )?to|total (?:is|was)|total(?:['’]s)?)(?: (?:only|just))?$/
const AFTER_TILL = /^(?:|please|plus|altogether|and|with)$/

/** Returns whether the words before a number, in lower case, are about sums of hundreds: rent. */
export function isLargeSum(preceding: readonly string[]): boolean {
  return preceding.some((word) => LARGE_SUM.test(word))
}

/** Returns whether the words before a number, in lower case, say that it is a price. */
export function isPriceCue(preceding: readonly string[]): boolean {
  const text = ` ${preceding.join(' ')}`
  return COST.test(text) || TILL.test(text)
}

/**
 * Returns whether the words around what was read as a year may make it dollars and cents: fourteen
 * fifty an hour. "In fourteen fifty a month passed" is a year.
 */
export function mayBePrice(
  [article = '', unit = '']: readonly string[],
  preceding: readonly string[],
): boolean {
  if (article === 'plus' && /^(?:tax(?:es)?|tip|shipping)$/.test(unit)) return true
  if (!UNIT.test(unit) || !/^(?:an?|per|each|every)$/.test(article)) return false
  const before = preceding.at(-1) ?? ''
  const isClear = article === 'per' || (/^an?$/.test(article) && !CALENDAR.test(unit))
  return isClear ? !BEFORE_YEAR.test(before) : BEFORE_PRICE.test(before)
}

/**
 * Returns "nineteen ninety-nine a month" as 19.99, and of how many parts the number consists. From
 * ten on, prices that end like those of shops (19.99, 24.95) count where a unit or "it costs" shows
 * that they are prices, and others where a cashier says them. Below, "two ninety-nine a month" may
 * be hundreds: only prices of small units and things count (three fifty a gallon, the coffee costs
 * one fifty). `preceding` are the words before it in lower case, the nearest last.
 */
export function priceOf(
  parts: readonly string[],
  { number, preceding }: { number: SpokenNumber; preceding: readonly string[] },
): { text: string; words: number } | undefined {
  const { dollars, cents, words } = dollarsAndCents(parts, number) ?? {}
  if (dollars === undefined || cents === undefined || words === undefined) return undefined
  const after = parts.slice(words)
  const isPrice =
    isSmallPrice(after, preceding) ||
    (dollars >= 10 &&
      (isTillPrice(after, { dollars, preceding }) ||
        (isShopPrice(cents) &&
          (isCost(after, preceding) || isPricePerUnit(after, { dollars, number, preceding })))))
  return isPrice ? { text: `${dollars}.${cents}`, words } : undefined
}

function isShopPrice(cents: number): boolean {
  return cents >= 29 && (cents % 10 === 9 || cents === 95)
}

function isPricePerUnit(
  [article = '', unit = '', after = '']: readonly string[],
  {
    dollars,
    number,
    preceding,
  }: { dollars: number; number: SpokenNumber; preceding: readonly string[] },
): boolean {
  const isEach = article === 'each' && dollars > MAX_HOUR
  const isPer = article === 'per' || ((isEach || /^an?$/.test(article)) && AFTER_PRICE.test(after))
  if (!UNIT.test(unit) || !isPer) return false
  const before = preceding.at(-1) ?? ''
  const mayBeYear = number.value >= MIN_YEAR
  if (mayBeYear ? !BEFORE_PRICE.test(before) : BEFORE_YEAR.test(before)) return false
  return !isLargeSum(preceding)
}

/** "I paid nineteen ninety-nine for it". */
function isCost([after = '']: readonly string[], preceding: readonly string[]): boolean {
  if (isLargeSum(preceding)) return false
  return COST.test(` ${preceding.join(' ')}`) && (after === '' || isFunctionWordInText(after))
}

/** "That'll be twelve seventy-five, please"; nineteen and twenty may begin a year. */
function isTillPrice(
  [after = '']: readonly string[],
  { dollars, preceding }: { dollars: number; preceding: readonly string[] },
): boolean {
  if (!TILL.test(` ${preceding.join(' ')}`)) return false
  if (isLargeSum(preceding)) return false
  const mayBeYear = dollars === 19 || dollars === 20
  return mayBeYear ? /^(?:please|plus)$/.test(after) : AFTER_TILL.test(after)
}

/** "Three fifty a gallon", "the coffee costs one fifty" and "I paid four fifty for a beer". */
function isSmallPrice(
  [article = '', unit = '', thing = '', next = '']: readonly string[],
  preceding: readonly string[],
): boolean {
  const isPer = /^(?:an?|per)$/.test(article) && SMALL_UNIT.test(unit)
  if (isPer) return !BEFORE_YEAR.test(preceding.at(-1) ?? '')
  const cue = COST.exec(` ${preceding.join(' ')}`)
  if (!cue) return false
  const isOfThing = SMALL_THING.test(/\S*$/.exec(cue.input.slice(0, cue.index))![0])
  const isForThing = article === 'for' && /^(?:an?|the|my|this|that)$/.test(unit)
  const isAlone = next === '' || isFunctionWordInText(next)
  return isOfThing || (isForThing && SMALL_THING.test(thing) && isAlone)
}

/** Divides "nineteen ninety-nine", which may be a year, and "forty-nine ninety-five". */
function dollarsAndCents(parts: readonly string[], { value, words, isOrdinal }: SpokenNumber) {
  if (isOrdinal || value < 1) return undefined
  if (value > 1000 && parts[1] !== 'thousand' && parts[1] !== 'hundred') {
    return { dollars: Math.floor(value / 100), cents: value % 100, words }
  }
  const cents = parseSpokenNumber(parts.slice(words))
  if (value > 99 || cents?.isOrdinal !== false || cents.value < 10 || cents.value > 99)
    return undefined
  return { dollars: value, cents: cents.value, words: words + cents.words }
}
