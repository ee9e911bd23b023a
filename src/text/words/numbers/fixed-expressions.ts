import type { Word } from '../../../transcript/transcript.ts'
import { isFunctionWordInText } from '../letter-case.ts'
import { wordPartsOf } from '../word-parts.ts'
import { isStreetAt } from './clock-context.ts'
import { dictatedDigitsAt } from './dictated-digits.ts'
import { AFTER_NUMBER, COUNTED, LABEL, SCALE } from './number-context.ts'
import { parseSpokenNumber } from './number-words.ts'

/** Expressions whose number is part of the name or the verb: it stays in words. */
const KEPT = [
  'zero tolerance',
  'zero sum',
  'zero in on',
  'ground zero',
  'patient zero',
  'cloud nine',
  'one two punch',
].map((expression) => expression.split(' '))

const MAX_CLOCK_WORDS = 3
/** Before these, "oh eight" is a year, and "oh six hundred" a time. */
const BEFORE_OH = /^(?:in|since|until|till|by|of|at|around|before|after|from|to)$/

/** Expressions that are written in their own way, unless they count what follows. */
const WRITTEN: readonly (readonly [spoken: readonly string[], written: string])[] = [
  [['twenty', 'four', 'seven'], '24/7'],
  [['nine', 'one', 'one'], '911'],
  [['nine', 'eleven'], '9/11'],
  [['ten', 'four'], '10-4'],
]
const FRACTION =
  /^(?:an? (?:half|quarter|third)|one (?:half|quarter|third)|two thirds|three quarters)$/
const HALF = /^(?:half|quarter) (?:past|to|of|till|after|before)$/
/** Before these, a number with a capital is a day or a factor: on Five May. */
const MONTH_OR_SCALE =
  /^(?:january|february|march|april|may|june|july|august|september|october|november|december|hundred|thousand|million|billion|trillion)$/
/** After these, "nine eleven" is a time. */
const BEFORE_TIME = /^(?:at|until|till|by|around|about|from|to|it|is)$/
/** Words before the result of an eye test, or what is clear afterwards. */
const SIGHT = /(?:\bacuity|\b(?:acuity|vision|eyesight|hindsight) (?:is|was|of))$/
/** Capitals that belong to the digit before them: 3D, 5G. */
const SUFFIXES: Record<string, RegExp> = {
  D: /^(?:two|three)$/,
  G: /^(?:two|three|four|five|six)$/,
}

/** Returns how many words from `at` stay as they are because they form a fixed expression. */
export function keptWordsAt(words: readonly Word[], at: number): number {
  for (const expression of KEPT) {
    const count = matchParts(words, at, expression)
    if (count) return count
  }
  // "A minute or two" says that the number is vague.
  const isVague = /^an?$/.test(coreAt(words, at - 2)) && !isNumber(coreAt(words, at - 1))
  if (isVague && matchParts(words, at, ['or', 'two'])) return 2
  return (
    wordsOfHalf(words, at) ||
    wordsOfRatio(words, at) ||
    wordsAfterOh(words, at) ||
    wordsAfterUnit(words, at) ||
    (isHourOfHalf(words, at) ? 1 : 0) ||
    wordsOfName(words, at)
  )
}

/** Returns how many words "one in five" and "one on one" have, whose "one" is in words. */
function wordsOfRatio(words: readonly Word[], at: number): number {
  if (coreAt(words, at) !== 'one' || LABEL.test(coreAt(words, at - 1))) return 0
  const cores = coresFrom(words, at, 5)
  const link = /^one (?:in|for|on|out of)(?= )/.exec(cores.join(' '))?.[0].split(' ').length ?? 0
  const parts = cores.slice(link).flatMap((core) => core.split('-'))
  const whole = link > 0 ? parseSpokenNumber(parts) : undefined
  // One in nineteen ninety, one for five dollars.
  if (!whole || whole.isOrdinal || isYear(parts.slice(0, whole.words), whole.value)) return 0
  const next = parts[whole.words] ?? ''
  const isCounted = next !== '' && !isFunctionWordInText(next) && whole.value > 1
  if (isCounted && /^(?:for|on)$/.test(cores[1]!)) return 0
  return matchParts(words, at, [...cores.slice(0, link), ...parts.slice(0, whole.words)]) ?? 0
}

function isYear(parts: readonly string[], value: number): boolean {
  return value > 1000 && !parts.some((part) => SCALE.test(part))
}

/** Returns how many words of a number follow an "oh" that is no zero: in oh eight, at oh six. */
function wordsAfterOh(words: readonly Word[], at: number): number {
  const isOh = coreAt(words, at - 1) === 'oh' && BEFORE_OH.test(coreAt(words, at - 2))
  if (!isOh || !isOpen(words[at - 1]!) || dictatedDigitsAt(words, at - 1)) return 0
  const cores = coresFrom(words, at, MAX_CLOCK_WORDS)
  const end = cores.findIndex((core) => core !== 'hundred' && !isNumber(core))
  return end < 0 ? cores.length : end
}

/** Returns how many words the number of "a dollar fifty" or "an hour forty-five" has. */
function wordsAfterUnit(words: readonly Word[], at: number): number {
  const isUnit = AFTER_NUMBER.test(coreAt(words, at - 1)) && isOpen(words[at - 1]!)
  if (!isUnit || !/^an?$/.test(coreAt(words, at - 2))) return 0
  const parts = coresFrom(words, at, 3).flatMap((core) => core.split('-'))
  const number = parseSpokenNumber(parts)
  if (!number || number.isOrdinal || number.value < 10 || number.value > 99) return 0
  const count = matchParts(words, at, parts.slice(0, number.words)) ?? 0
  return isCounting(words, at + count) ? 0 : count
}

/** Returns how many words a number with a fraction has: two and a half, six and three quarters. */
function wordsOfHalf(words: readonly Word[], at: number): number {
  if (at > 0 && isOpen(words[at - 1]!) && isNumber(coreAt(words, at - 1))) return 0
  const count = [1, 2].find((length) => coreAt(words, at + length) === 'and') ?? 0
  const isClosed = words.slice(at, at + count + 2).some((word) => !isOpen(word))
  if (count === 0 || isClosed) return 0
  const parts = words.slice(at, at + count).flatMap((_, i) => coreAt(words, at + i).split('-'))
  const number = parseSpokenNumber(parts)
  const isWhole = number?.words === parts.length && !number.isOrdinal && number.value < 100
  const fraction = `${coreAt(words, at + count + 1)} ${coreAt(words, at + count + 2)}`
  return isWhole && FRACTION.test(fraction) ? count + 3 : 0
}

/** Returns whether a word is the hour of "half past two" or "quarter to five". */
function isHourOfHalf(words: readonly Word[], at: number): boolean {
  const hour = parseSpokenNumber([coreAt(words, at)])
  if (!hour || hour.isOrdinal || hour.value < 1 || hour.value > 12) return false
  const before = `${coreAt(words, at - 2)} ${coreAt(words, at - 1)}`
  const next = isOpen(words[at]!) ? coreAt(words, at + 1) : ''
  const isAmount = isNumber(next) || AFTER_NUMBER.test(next) || COUNTED.test(next)
  return HALF.test(before) && (!isAmount || /^[ap]\.?m/.test(next))
}

/**
 * Returns how many number words at an index begin a name, whose capitals show it, as in "at Five
 * Guys" and "by Twenty One Pilots". The number with which a sentence begins has a capital, too.
 */
function wordsOfName(words: readonly Word[], at: number): number {
  const before = words[at - 1]
  const isInside = before !== undefined && isOpen(before)
  if (isInside && (LABEL.test(coreAt(words, at - 1)) || isCapitalized(before))) return 0
  let end = at
  while (isCapitalized(words[end]) && isNumber(coreAt(words, end)) && isOpen(words[end]!)) end++
  const isName = end > at && isCapitalized(words[end]) && !isNumber(coreAt(words, end))
  if (!isName || MONTH_OR_SCALE.test(coreAt(words, end)) || isStreetAt(words, end)) return 0
  return end - at
}

function isCapitalized(word: Word | undefined): boolean {
  return /^\p{Lu}\p{Ll}/u.test(word?.text ?? '')
}

/** Returns the text of an expression with a spelling of its own, and how many words it replaces. */
export function writtenExpressionAt(
  words: readonly Word[],
  at: number,
): { text: string; count: number } | undefined {
  const suffixed = suffixedDigit(words, at)
  if (suffixed) return suffixed
  if (isNumber(coreAt(words, at - 1)) && isOpen(words[at - 1]!)) return undefined
  const sight = sightAt(words, at)
  if (sight) return sight
  for (const [spoken, text] of WRITTEN) {
    const count = matchParts(words, at, spoken)
    if (count === undefined || isCounting(words, at + count)) continue
    if (text === '10-4' && !isBeforePause(words, at + count)) continue
    if (text !== '9/11' || !BEFORE_TIME.test(coreAt(words, at - 1))) return { text, count }
  }
  return undefined
}

/** Returns "twenty twenty" of vision as 20/20, and "twenty two hundred" of acuity as 20/200. */
function sightAt(words: readonly Word[], at: number) {
  const parts = coresFrom(words, at, 3).flatMap((core) => core.split('-'))
  const distance = parts[0] === 'twenty' ? parseSpokenNumber(parts.slice(1)) : undefined
  if (!distance || distance.isOrdinal || distance.value < 10 || distance.value % 5 !== 0)
    return undefined
  const spoken = parts.slice(0, distance.words + 1)
  const next = parts[spoken.length] ?? ''
  const before = [2, 1].map((i) => coreAt(words, at - i)).join(' ')
  const isSight =
    SIGHT.test(before) || (distance.value === 20 && /^(?:vision|eyesight)$/.test(next))
  const count = matchParts(words, at, spoken)
  return count && isSight && !isNumber(next) ? { text: `20/${distance.value}`, count } : undefined
}

/** Returns up to `count` words from `at` in lower case, without those after a mark. */
function coresFrom(words: readonly Word[], at: number, count: number): string[] {
  const near = words.slice(at, at + count)
  const mark = near.findIndex((word) => !isOpen(word))
  return near.slice(0, mark < 0 ? count : mark + 1).map((_, i) => coreAt(words, at + i))
}

function suffixedDigit(words: readonly Word[], at: number) {
  const letter = wordPartsOf(words[at + 1]?.text ?? '').core
  const isSuffix = Object.hasOwn(SUFFIXES, letter) && SUFFIXES[letter]!.test(coreAt(words, at))
  if (!isSuffix || !isOpen(words[at]!)) return undefined
  return { text: `${parseSpokenNumber([coreAt(words, at)])!.value}${letter}`, count: 2 }
}

/** Returns whether a number or what it counts follows: twenty-four seven inch screens. */
function isCounting(words: readonly Word[], at: number): boolean {
  if (at > 0 && !isOpen(words[at - 1]!)) return false
  const next = coreAt(words, at)
  return isNumber(next) || [AFTER_NUMBER, COUNTED].some((after) => after.test(next))
}

/** Returns whether a mark or the end of the text is before a word. */
function isBeforePause(words: readonly Word[], at: number): boolean {
  return !words[at] || !isOpen(words[at - 1]!)
}

/**
 * Returns how many words the expression takes from `at`, in any case, and with hyphens or spaces;
 * undefined if the words are others, or a mark separates them.
 */
function matchParts(
  words: readonly Word[],
  at: number,
  expression: readonly string[],
): number | undefined {
  const left = [...expression]
  for (let i = at; left.length > 0; i++) {
    const core = words[i] && coreAt(words, i)
    if (!core) return undefined
    for (const part of core.split('-')) if (left.shift() !== part) return undefined
    if (left.length === 0) return i - at + 1
    if (!isOpen(words[i]!)) return undefined
  }
  return undefined
}

/** Returns whether no mark follows a word. */
function isOpen({ text }: Word): boolean {
  const { possessive, after } = wordPartsOf(text)
  return possessive + after === ''
}

function coreAt(words: readonly Word[], at: number): string {
  return wordPartsOf(words[at]?.text ?? '').core.toLowerCase()
}

function isNumber(core: string): boolean {
  return parseSpokenNumber(core.split('-')) !== undefined
}
