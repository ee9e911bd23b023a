import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { lettersAndDigits } from '../../transcript/letters-and-digits.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { UtteranceSegments } from './endpointer.ts'

/** The last word that was recognized on a channel; `end` in seconds. */
export type LastWord = Pick<Word, 'text' | 'end'>

/** Adjacent words may overlap by this much, in seconds: word times are that accurate. */
const OVERLAP = 0.05

/** Returns the last of some words; undefined where there are none. */
export function lastWordOf(words: readonly Word[]): LastWord | undefined {
  const last = words.at(-1)
  return last && { text: last.text, end: last.end }
}

/**
 * Returns whether audio of the utterance before is recognized with one, so that both may have the
 * same word. Fragments are whole words: none waits for those before it.
 */
export function sharesContext({ segment, context }: UtteranceSegments): boolean {
  return context.start < segment.start && context.pauses === undefined
}

/** Returns whether a pause precedes an utterance. */
export function startsAfterPause({ segment, context, isAfterPause }: UtteranceSegments): boolean {
  return isAfterPause ?? context.start === segment.start
}

/**
 * Returns the segment of an utterance. Where two utterances touch, the words of the second begin
 * where those of the first ended: a word that spans the cut is sent once, by whichever utterance
 * recognized it whole.
 */
export function trimToPrevious(
  pieces: UtteranceSegments,
  last: LastWord | null,
): UtteranceSegments['segment'] {
  const { segment, context } = pieces
  if (startsAfterPause(pieces) || !last) return segment
  const start = Math.round((last.end - OVERLAP) * SAMPLE_RATE)
  return { ...segment, start: Math.min(Math.max(start, context.start), segment.end) }
}

/** Returns the text of the words before an utterance that end within its `context`. */
export function contextText(
  context: UtteranceSegments['context'],
  before: readonly LastWord[],
): string {
  const inside = before.filter(({ end }) => end * SAMPLE_RATE > context.start)
  return inside.map(({ text }) => text).join(' ')
}

/**
 * Returns the words of a final without what the previous utterance said: its `last` word, and after
 * a pause what begins before `earliest` (in seconds).
 */
export function withoutPrevious(
  pieces: UtteranceSegments,
  { words, wordBefore }: { words: readonly Word[]; wordBefore?: string | undefined },
  { last, earliest }: { last: LastWord | null; earliest: number },
): readonly Word[] {
  const withoutRepeated = sharesContext(pieces) ? withoutRepeat(words, last, wordBefore) : words
  return startsAfterPause(pieces)
    ? beginAfter(withoutRepeated, earliest)
    : withoutOverlap(withoutRepeated, last)
}

/**
 * Removes a first word that is the last word of the previous utterance, recognized again. It was
 * spoken twice where `wordBefore`, which this recognition has before it, is that word as well.
 */
export function withoutRepeat(
  words: readonly Word[],
  last: LastWord | null,
  wordBefore = '',
): readonly Word[] {
  const [first] = words
  if (!first || !last || first.start > last.end + OVERLAP) return words
  const isRepeated =
    lettersAndDigits(first.text) === lettersAndDigits(last.text) &&
    lettersAndDigits(wordBefore) !== lettersAndDigits(last.text)
  return isRepeated ? words.slice(1) : words
}

/**
 * Moves the start of a first word that overlaps the last word of the previous utterance to its end:
 * the times of a channel ascend. A word that would vanish stays as it is.
 */
export function withoutOverlap(words: readonly Word[], last: LastWord | null): readonly Word[] {
  const [first, ...rest] = words
  if (!first || !last || first.start >= last.end || first.end <= last.end) return words
  return [{ ...first, start: last.end }, ...rest]
}

/**
 * Moves the start of words that begin before `earliest` and reach beyond it, and drops those that
 * end before it, unless all do.
 */
export function beginAfter(words: readonly Word[], earliest: number): readonly Word[] {
  const inside = words.filter(({ end }) => end > earliest)
  const keptWords = inside.length > 0 ? inside : words
  return keptWords.map((word) => {
    return word.start < earliest && word.end > earliest ? { ...word, start: earliest } : word
  })
}
