import type { Word } from '../../src/transcript/transcript.ts'
import { alignWords, comparableWords } from '../../test/support/asr/word-errors.ts'
import type { Recording } from '../support/corpus.ts'

/** Which words are right, and the errors of the starts of right words in seconds. */
export type WordScores<T> = { right: Map<T, boolean>; startErrors: number[] }

/** Aligns recognized words with the reference of a recording. */
export function scoreWords<T extends Pick<Word, 'text' | 'start'>>(
  { transcript, words: reference }: Recording,
  words: readonly T[],
): WordScores<T> {
  const hypothesis = words.flatMap((word) =>
    comparableWords(word.text).map((text, i) => ({ word, text, isFirst: i === 0 })),
  )
  const timed = (reference ?? []).flatMap((word) => {
    return comparableWords(word.word).map((text) => ({ text, start: word.start }))
  })
  const spokenWords =
    timed.length > 0
      ? timed
      : comparableWords(transcript ?? '').map((text) => ({ text, start: null }))
  const right = new Map(words.map((word) => [word, true]))
  const startErrors: number[] = []
  const pairs = alignWords(
    spokenWords.map((s) => s.text),
    hypothesis.map((h) => h.text),
  )
  for (const [a, b] of pairs) {
    if (!b) continue
    const { word, isFirst } = hypothesis[b.index]!
    const start = a ? spokenWords[a.index]!.start : null
    if (!b.same) right.set(word, false)
    // A number starts with its first digit.
    else if (start !== null && isFirst) startErrors.push(Math.abs(word.start - start))
  }
  return { right, startErrors }
}
