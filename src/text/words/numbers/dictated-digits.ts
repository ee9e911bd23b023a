import type { Word } from '../../../transcript/transcript.ts'
import { wordPartsOf } from '../word-parts.ts'
import { parseSpokenNumber } from './number-words.ts'

const REPEATS: Record<string, number> = { double: 2, triple: 3, treble: 3 }

const AFTER_CODE = /\b(?:(?:code|pin|number) is|(?:ends?|ending) (?:in|with))$/

/**
 * Returns the digits that words mean only where a speaker dictates digits ("oh" for 0, "double
 * seven" for 77), and how many words they replace. Elsewhere these are ordinary words: oh well, a
 * double six.
 */
export function dictatedDigitsAt(
  words: readonly Word[],
  at: number,
): { text: string; count: number } | undefined {
  const { core, possessive, after } = wordPartsOf(words[at]!.text)
  if (possessive !== '') return undefined
  const times = after === '' ? (REPEATS[core.toLowerCase()] ?? 0) : 0
  if (times > 0) {
    const digit = digitOf(words[at + 1])
    const isAfterNumber = /^hundred$/i.test(wordPartsOf(words[at - 1]?.text ?? '').core)
    const isInRun =
      isAfterNumber ||
      isAfterCode(words, at) ||
      digitOf(words[at - 1]) !== undefined ||
      isDigitAt(words, at + 2)
    if (digit === undefined || !isInRun) return undefined
    if (isZerosAndDigit(words, at)) {
      return { text: digit.repeat(times) + digitOf(words[at + 2]), count: 3 }
    }
    return { text: digit.repeat(times), count: 2 }
  }
  if (core.toLowerCase() !== 'oh') return undefined
  return isZero(words, at) ? { text: '0', count: 1 } : undefined
}

/** Returns whether the words before say that a code follows: the code is, it ends in. */
function isAfterCode(words: readonly Word[], at: number): boolean {
  const before = [3, 2, 1].map((i) => wordPartsOf(words[at - i]?.text ?? '').core.toLowerCase())
  return AFTER_CODE.test(before.join(' '))
}

/** Returns whether a number such as "double oh seven" begins at an index, outside longer ones. */
function isZerosAndDigit(words: readonly Word[], at: number): boolean {
  const [zero, digit] = [words[at + 1]!, words[at + 2]]
  if (digitOf(zero) !== '0' || !hasNoPunctuation(zero) || digitOf(digit) === undefined) return false
  const goesOn = hasNoPunctuation(digit!) && isDigitAt(words, at + 3)
  return !goesOn && !isDigitAt(words, at - 1)
}

/**
 * Returns whether "oh" is a zero, as in "nine oh two", "nine oh." and "oh seven nine", but not in
 * "oh five people".
 */
function isZero(words: readonly Word[], at: number): boolean {
  const isAfterDigit = digitOf(words[at - 1]) !== undefined && hasNoPunctuation(words[at - 1]!)
  const next = words[at + 1]
  if (!next || !hasNoPunctuation(words[at]!)) return isAfterDigit
  if (!isDigitAt(words, at + 1)) return false
  if (isAfterDigit || digitOf(next) === undefined) return true
  const second = words[at + 2]
  if (!second || !hasNoPunctuation(next)) return false
  return (
    isDigitAt(words, at + 2) ||
    parseSpokenNumber(wordPartsOf(second.text).core.split('-')) !== undefined
  )
}

/** Returns whether a digit, or a repeated one such as "double seven", begins at an index. */
function isDigitAt(words: readonly Word[], at: number): boolean {
  if (digitOf(words[at]) !== undefined) return true
  const { core, after } = wordPartsOf(words[at]?.text ?? '')
  const repeats = after === '' && core.toLowerCase() in REPEATS
  return repeats && digitOf(words[at + 1]) !== undefined
}

function digitOf(word: Word | undefined): string | undefined {
  const core = wordPartsOf(word?.text ?? '').core.toLowerCase()
  if (/^\d$/.test(core)) return core
  if (core === 'oh') return '0'
  const number = parseSpokenNumber([core])
  return number && !number.isOrdinal && number.value < 10 ? String(number.value) : undefined
}

function hasNoPunctuation({ text }: Word): boolean {
  const { possessive, after } = wordPartsOf(text)
  return possessive + after === ''
}
