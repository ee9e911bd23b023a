import { isGrouped } from '../../entities/amounts/amount-runs.ts'
import type { DigitRun } from '../../entities/digits/digit-runs.ts'
import type { Entity, EntityType } from '../../entities/entity-types.ts'
import { findNumbers } from '../stray-numbers.ts'
import { type KnownNumber, MIN_KNOWN_DIGITS } from './known-words.ts'

/** The fewest digits that are searched for, and the fewest if they are grouped like an amount. */
const MIN_DIGITS = 3
const MIN_GROUPED_DIGITS = 6

/** Returns the numbers in a text that may be known ones, or parts of them. */
export function findRepeatable(text: string, foundEntities: readonly Entity[]): DigitRun[] {
  return findNumbers(text, foundEntities).filter((run) => {
    return run.digits.length >= (isGrouped(text, run) ? MIN_GROUPED_DIGITS : MIN_DIGITS)
  })
}

/**
 * Returns the digits that a number shares with a known one: all of them, or all but a first digit
 * that is a count, as in "last four 0927"; undefined if there are none.
 */
function sharedPart(knownDigits: string, otherDigits: string): string | undefined {
  if (knownDigits.includes(otherDigits) || otherDigits.includes(knownDigits)) return otherDigits
  const otherTail = otherDigits.slice(1)
  return otherTail.length >= MIN_KNOWN_DIGITS && knownDigits.includes(otherTail)
    ? otherTail
    : undefined
}

/**
 * Adds numbers that are part of a known one, or contain one, and then the numbers that these
 * reveal, until there are no more.
 */
export function markRepeatedNumbers(
  knownNumbers: readonly KnownNumber[],
  phrase: Iterable<string>,
) {
  const types = new Map<string, EntityType>()
  const open = new Set(phrase)
  const reached = [...knownNumbers]
  // The list grows during the loop.
  for (const { type, digits } of reached) {
    for (const openNumber of open) {
      const part = sharedPart(digits, openNumber)
      if (part === undefined) continue
      open.delete(openNumber)
      types.set(openNumber, type)
      if (part.length >= MIN_KNOWN_DIGITS) reached.push({ type, digits: part })
    }
  }
  return types
}
