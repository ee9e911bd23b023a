import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { toMilliseconds } from '../formats/captions/timing.ts'
import type { WordIndexRange } from './edit-state.ts'

type Words = UtteranceView['words']

/** Whole milliseconds. */
export type MillisecondSpan = { start: number; end: number }

/** With less time per word in milliseconds, new words also take the pause after them. */
const COMFORTABLE_MS = 50

/**
 * Returns the time that words in place of a range have, in milliseconds: that of the range, and if
 * this is short, as much of the pause after it as they need.
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
 * Spreads words over a time in proportion to their characters. Each lasts at least a millisecond if
 * the time has as many; they follow each other without pauses.
 */
export function interpolateTimes(
  words: readonly string[],
  { start, end }: MillisecondSpan,
): MillisecondSpan[] {
  const lengths = words.map((word) => Math.max(1, [...word].length))
  const total = lengths.reduce((sum, length) => sum + length, 0)
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
