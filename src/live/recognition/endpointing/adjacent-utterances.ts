import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import { lettersAndDigits } from '../../../transcript/letters-and-digits.ts'
import type { Word } from '../../../transcript/transcript.ts'
import type { UtteranceSegments } from './utterance-segments.ts'

/** The last word that was recognized on a channel; `end` in seconds. */
export type LastWord = Pick<Word, 'text' | 'end'>

/** Adjacent words may overlap by this many seconds, which is the accuracy of word times. */
const OVERLAP = 0.05
/**
 * After a short pause, a first word may be timed to begin this long before the end of the last word
 * (in seconds): the word times of a recognizer are least accurate beside a pause.
 */
const OVERLAP_AT_PAUSE = 0.15
/**
 * A first word begins at most this many seconds before the first voiced frame: the model extends it
 * into silence.
 */
export const MAX_LEAD = 0.1

/** Returns the last of some words; undefined where there are none. */
export function lastWordOf(words: readonly Word[]): LastWord | undefined {
  const last = words.at(-1)
  return last && { text: last.text, end: last.end }
}

/**
 * Returns whether an utterance is recognized together with audio of the previous one, so that both
 * may contain the same word. Fragments consist of whole words, so they never do.
 */
export function sharesContext({ segment, context }: UtteranceSegments): boolean {
  return context.start < segment.start && context.pauses === undefined
}

/** Returns whether a pause precedes an utterance. */
export function startsAfterPause({ segment, context, isAfterPause }: UtteranceSegments): boolean {
  return isAfterPause ?? context.start === segment.start
}

/**
 * Returns the segment of an utterance, aligned to the `last` word of the previous one. Where two
 * utterances touch, the words of the second begin where those of the first ended: a word that spans
 * the cut is sent once, by whichever utterance recognized it whole. The same applies where the
 * pause between them is so short that the second is recognized with audio of the first, except that
 * the start is then never moved to a later time.
 */
export function alignToPrevious(
  segments: UtteranceSegments,
  last: LastWord | null,
): UtteranceSegments['segment'] {
  const { segment, context } = segments
  const isAfterPause = startsAfterPause(segments)
  if (!last || (isAfterPause && !sharesContext(segments))) return segment
  const overlap = isAfterPause ? OVERLAP_AT_PAUSE : OVERLAP
  const start = Math.round((last.end - overlap) * SAMPLE_RATE)
  const latest = isAfterPause ? segment.start : segment.end
  return { ...segment, start: Math.min(Math.max(start, context.start), latest) }
}

/**
 * Returns the text of the words before an utterance that end within its `context`. Word times are
 * seconds, the context is in samples.
 */
export function contextText(
  context: UtteranceSegments['context'],
  before: readonly LastWord[],
): string {
  const inside = before.filter(({ end }) => end * SAMPLE_RATE > context.start)
  return inside.map(({ text }) => text).join(' ')
}

/**
 * Returns the words of a final without what the previous utterance said: its `last` word, and after
 * a pause what begins before `earliest` (in seconds), `MAX_LEAD` before its first voiced frame.
 */
export function withoutPrevious(
  segments: UtteranceSegments,
  { words, wordBefore }: { words: readonly Word[]; wordBefore?: string | undefined },
  { last, earliest }: { last: LastWord | null; earliest: number },
): readonly Word[] {
  const withoutRepeated = sharesContext(segments) ? withoutRepeat(words, last, wordBefore) : words
  return startsAfterPause(segments)
    ? beginAfter(withoutRepeated, earliest)
    : withoutOverlap(withoutRepeated, last)
}

/**
 * Removes a first word that is the last word of the previous utterance, recognized again. The word
 * was spoken twice if `wordBefore`, the word that this recognition found before it, is the same
 * word as well.
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
 * Moves the start of a first word that overlaps the last word of the previous utterance to the end
 * of that word: the times of a channel ascend. A word that would vanish stays unchanged.
 */
export function withoutOverlap(words: readonly Word[], last: LastWord | null): readonly Word[] {
  const [first, ...laterWords] = words
  if (!first || !last || first.start >= last.end || first.end <= last.end) return words
  return [{ ...first, start: last.end }, ...laterWords]
}

/**
 * Moves the start of words that begin before `earliest` (in seconds) and extend beyond it, and
 * drops the words that end before it, unless all words do.
 */
export function beginAfter(words: readonly Word[], earliest: number): readonly Word[] {
  const inside = words.filter(({ end }) => end > earliest)
  const keptWords = inside.length > 0 ? inside : words
  return keptWords.map((word) => {
    return word.start < earliest && word.end > earliest ? { ...word, start: earliest } : word
  })
}
