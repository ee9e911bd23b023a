import type { DigitRun } from '../../entities/digits/digit-runs.ts'
import type { Entity, EntityType } from '../../entities/entity-types.ts'
import { type KnownWords, wordsOf } from './known-words.ts'
import { findRepeatedNames } from './repeated-names.ts'

/**
 * Finds further occurrences of known words: names in every form, others in their original words,
 * and the numbers in `reached`.
 */
export function findRepeats(
  text: string,
  {
    known,
    numbers,
    reached,
  }: {
    known: KnownWords
    numbers: readonly DigitRun[]
    /** The types of the digits that known numbers give away. */
    reached: ReadonlyMap<string, EntityType>
  },
): Entity[] {
  const words = wordsOf(text)
  const found = findRepeatedNames(text, words, known.names)
  for (const [at, { text: word, from }] of words.entries()) {
    for (const { type, words: row } of known.phrases.get(word) ?? []) {
      const part = words.slice(at, at + row.length)
      if (part.length < row.length || part.some(({ text }, i) => text !== row[i])) continue
      found.push({ type, from, to: part.at(-1)!.to, score: 0.05 })
    }
  }
  for (const { from, to, digits } of numbers) {
    const type = reached.get(digits)
    if (type) found.push({ type, from, to, score: 0.05 })
  }
  return found
}
