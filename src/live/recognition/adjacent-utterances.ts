import { SAMPLE_RATE } from '../../asr/speech-engine.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { UtteranceSegments } from './endpointing.ts'

/** The last word that was heard on a channel; `end` in seconds. */
export type LastWord = Pick<Word, 'text' | 'end'>

/** Words that follow each other may overlap a little, in seconds: they are placed that well. */
const OVERLAP = 0.05

/** Whether there is a pause before an utterance. */
export function isAlone({ segment, context }: UtteranceSegments): boolean {
  return context.start === segment.start
}

/**
 * Where two utterances touch, the words of the second begin where those of the first ended: a word that
 * lies across the place of the cut is told once, by whichever heard it whole.
 */
export function startAfter(
  pieces: UtteranceSegments,
  last: LastWord | null,
): UtteranceSegments['segment'] {
  const { segment, context } = pieces
  if (isAlone(pieces) || !last) return segment
  const start = Math.round((last.end - OVERLAP) * SAMPLE_RATE)
  return { ...segment, start: Math.min(Math.max(start, context.start), segment.end) }
}

/** Leaves out a first word that is the last one of the utterance before, heard once more. */
export function withoutRepeat(words: readonly Word[], last: LastWord | null): readonly Word[] {
  const [first] = words
  if (!first || !last || first.start > last.end + OVERLAP) return words
  return bare(first.text) === bare(last.text) ? words.slice(1) : words
}

/** Letters and digits alone: a cut changes case and punctuation. */
function bare(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}
