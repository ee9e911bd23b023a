import type { DigitRun } from '../../entities/digits/digit-runs.ts'
import type { Lexeme } from '../../entities/digits/spoken-digits.ts'
import type { Entity, EntityType } from '../../entities/entity-types.ts'
import { type KnownWords, toCode, wordLexemes } from './known-words.ts'
import { findRepeatedNames } from './repeated-names.ts'

/**
 * Finds further occurrences of known words: names in every form, others in their original words,
 * and the numbers in `repeatedNumbers`.
 */
export function findRepeats(
  text: string,
  {
    known,
    numbers,
    repeatedNumbers,
  }: {
    known: KnownWords
    numbers: readonly DigitRun[]
    /** The types of the digits that known numbers reveal. */
    repeatedNumbers: ReadonlyMap<string, EntityType>
  },
): Entity[] {
  const words = wordLexemes(text)
  const longest = [...known.codes.keys()].reduce((max, { length }) => Math.max(max, length), 0)
  const repeatedNames = findRepeatedNames(text, words, known.names)
  for (const [at, { text: word, from }] of words.entries()) {
    for (const { type, words: row } of known.phrases.get(word.toLowerCase()) ?? []) {
      const part = words.slice(at, at + row.length)
      if (part.length < row.length || part.some(({ text }, i) => text.toLowerCase() !== row[i])) {
        continue
      }
      repeatedNames.push({ type, from, to: part.at(-1)!.to, score: 0.05 })
    }
    if (longest > 0) repeatedNames.push(...codesFrom(words, at, { codes: known.codes, longest }))
  }
  for (const { from, to, digits } of numbers) {
    const type = repeatedNumbers.get(digits)
    if (type) repeatedNames.push({ type, from, to, score: 0.05 })
  }
  return repeatedNames
}

/** Finds the codes that begin at a word, however they are split: "B M W three one seven". */
function codesFrom(
  words: readonly Lexeme[],
  at: number,
  { codes, longest }: Pick<KnownWords, 'codes'> & { longest: number },
): readonly Entity[] {
  if (toCode(words[at]!.text) === '') return []
  let code = ''
  for (const { text, to } of words.slice(at, at + longest)) {
    code += toCode(text)
    if (code.length > longest) break
    const type = codes.get(code)
    if (type) return [{ type, from: words[at]!.from, to, score: 0.05 }]
  }
  return []
}
