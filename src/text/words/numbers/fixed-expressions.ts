import type { Word } from '../../../transcript/transcript.ts'
import { wordPartsOf } from '../word-parts.ts'
import { isStreetAt } from './clock-context.ts'
import { AFTER_NUMBER, COUNTED, LABEL } from './number-context.ts'
import { parseSpokenNumber } from './number-words.ts'

/** Expressions whose number is part of the name or the verb: it stays in words. */
const KEPT = [
  'zero tolerance',
  'zero sum',
  'zero in on',
  'ground zero',
  'patient zero',
  'cloud nine',
].map((expression) => expression.split(' '))

/** Expressions that are written in their own way, unless they count what follows. */
const WRITTEN: readonly (readonly [spoken: readonly string[], written: string])[] = [
  [['twenty', 'four', 'seven'], '24/7'],
  [['nine', 'one', 'one'], '911'],
  [['nine', 'eleven'], '9/11'],
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
  return wordsOfHalf(words, at) || (isHourOfHalf(words, at) ? 1 : 0) || wordsOfName(words, at)
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
 * Returns how many number words at an index begin a name, whose capitals come in the middle of a
 * sentence, as in "at Five Guys" and "by Twenty One Pilots".
 */
function wordsOfName(words: readonly Word[], at: number): number {
  const before = words[at - 1]
  if (!before || !isOpen(before) || LABEL.test(coreAt(words, at - 1))) return 0
  let end = at
  while (isCapitalized(words[end]) && isNumber(coreAt(words, end)) && isOpen(words[end]!)) end++
  const isName =
    end > at && isCapitalized(words[end]) && !isNumber(coreAt(words, end)) && !isCapitalized(before)
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
    if (text !== '9/11' || !BEFORE_TIME.test(coreAt(words, at - 1))) return { text, count }
  }
  return undefined
}

/** Returns "twenty twenty" of vision as 20/20, and "twenty forty" of visual acuity as 20/40. */
function sightAt(words: readonly Word[], at: number) {
  const count = matchParts(words, at, ['twenty', coreAt(words, at + 1)])
  const distance = parseSpokenNumber([coreAt(words, at + 1)])?.value
  if (count === undefined || !distance || distance % 5 !== 0) return undefined
  const next = isOpen(words[at + 1]!) ? coreAt(words, at + 2) : ''
  const before = words
    .slice(Math.max(0, at - 2), at)
    .map((_, i, { length }) => coreAt(words, at - length + i))
  const isSight =
    SIGHT.test(before.join(' ')) || (distance === 20 && /^(?:vision|eyesight)$/.test(next))
  return isSight && !isNumber(next) ? { text: `20/${distance}`, count } : undefined
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
