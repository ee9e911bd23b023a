import type { Word } from '../../../transcript/transcript.ts'
import { wordPartsOf } from '../word-parts.ts'
import { AFTER_NUMBER, COUNTED } from './number-context.ts'
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
/** After these, "nine eleven" is a time. */
const BEFORE_TIME = /^(?:at|until|till|by|around|about|from|to|it|is)$/
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
  return (isVague && matchParts(words, at, ['or', 'two'])) || 0
}

/** Returns the text of an expression with a spelling of its own, and how many words it replaces. */
export function writtenExpressionAt(
  words: readonly Word[],
  at: number,
): { text: string; count: number } | undefined {
  const suffixed = suffixedDigit(words, at)
  if (suffixed) return suffixed
  if (isNumber(coreAt(words, at - 1)) && isOpen(words[at - 1]!)) return undefined
  for (const [spoken, text] of WRITTEN) {
    const count = matchParts(words, at, spoken)
    if (count === undefined || isCounting(words, at + count)) continue
    if (text !== '9/11' || !BEFORE_TIME.test(coreAt(words, at - 1))) return { text, count }
  }
  return undefined
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
