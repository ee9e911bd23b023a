import { sum } from '../../numbers.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { toMilliseconds } from '../formats/subtitles/timing.ts'
import type { WordIndexRange } from './edit-state.ts'

type Words = UtteranceView['words']

/** A span in whole milliseconds. */
export type MillisecondSpan = { start: number; end: number }

/** If new words have less time than this per word, they also get the pause after them. */
const COMFORTABLE_MS = 50

/**
 * Returns the span for words that replace a range, in milliseconds. It is the span of the range
 * and, if that is short, as much of the pause after it as the words need.
 */
export function timeFor(
  words: Words,
  { from, to, words: now }: WordIndexRange & { words: readonly string[] },
): MillisecondSpan {
  const covered = words.slice(from, to)
  const start = toMilliseconds(covered[0]!.start)
  const end = covered.reduce((latest, word) => Math.max(latest, toMilliseconds(word.end)), start)
  const next = words[to]
  const limit = next ? Math.max(end, toMilliseconds(next.start)) : end
  return { start, end: Math.max(end, Math.min(limit, start + COMFORTABLE_MS * now.length)) }
}

/**
 * Distributes words over a span in proportion to their characters, without pauses. Each word gets
 * at least a millisecond, if the span is long enough.
 */
export function interpolateTimes(
  words: readonly string[],
  { start, end }: MillisecondSpan,
): MillisecondSpan[] {
  const lengths = words.map((word) => Math.max(1, [...word].length))
  const total = sum(lengths)
  let characters = 0
  let at = start
  return lengths.map((length, i) => {
    characters += length
    const fair = start + Math.round(((end - start) * characters) / total)
    const begin = at
    at = Math.min(Math.max(fair, at + 1), end - (words.length - 1 - i))
    return { start: begin, end: at }
  })
}
