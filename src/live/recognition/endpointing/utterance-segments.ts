import type { Segment } from '../../../asr/engines/recognizer.ts'
import { omittedSamples } from '../../../asr/segmentation/pauses.ts'
import { isInFragments } from '../../../asr/segmentation/split-segments.ts'
import { VAD_FRAME } from '../../../asr/segmentation/vad-frames.ts'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import {
  type EndpointerState,
  PAD_FRAMES,
  precedingFragments,
  type UtteranceSpan,
} from './endpointer.ts'

/**
 * Audio added before the speech of an utterance: the VAD misses the first sounds of a word.
 */
export const PRE_ROLL_SAMPLES = 0.3 * SAMPLE_RATE
/**
 * The audio before an utterance that is recognized again with it, if no pause separates them (2 s,
 * in samples).
 */
const CONTEXT_SAMPLES = 2 * SAMPLE_RATE

/**
 * The samples of an utterance: the words that begin in `segment` are recognized together with the
 * audio in `context`. `isAfterPause` means that speech paused before this utterance.
 */
export type UtteranceSegments = { segment: Segment; context: Segment; isAfterPause?: true }

/**
 * Returns the samples that are recognized for an utterance: a little more than its speech, but
 * nothing before `after`, the end of the previous utterance in samples. An utterance that was cut
 * off from its neighbors gets the audio before and after it as context, as far as it has arrived:
 * models perform badly where audio begins or ends within a word. So does an utterance whose leading
 * pause is so short that the previous one took part of it. A fragment gets the fragments before it,
 * without the pauses.
 */
export function segmentsOf(
  { from, to, pauses, fragmentsBefore = [] }: UtteranceSpan,
  { state, after }: { state: EndpointerState; after: number },
): UtteranceSegments {
  const isCut = state.from === to
  const limit = isCut ? to : state.frame
  const start = Math.max(after, from * VAD_FRAME - PRE_ROLL_SAMPLES, 0)
  const followsCut = after > 0 && from * VAD_FRAME <= after
  // A fragment gets no such context: words of other fragments would be taken for its own.
  const isFragment = pauses !== undefined || isInFragments({ start: from, end: to }, [])
  const hasContext = followsCut || (start === after && after > 0 && !isFragment)
  const end = Math.min(to + PAD_FRAMES, limit) * VAD_FRAME
  const segment = { start, end, ...(pauses && { pauses: omittedSamples(pauses) }) }
  const [first] = fragmentsBefore
  if (first && !followsCut) {
    const gaps = [...fragmentsBefore, { start: from, end: to }].map(({ start }, i, all) => {
      return { start: all[i - 1]?.end ?? start, end: start }
    })
    const omitted = omittedSamples([...gaps.slice(1), ...(pauses ?? [])])
    const context = { start: first.start * VAD_FRAME, end, pauses: omitted }
    return { segment, context, isAfterPause: true }
  }
  const context = {
    start: hasContext ? Math.max(0, start - CONTEXT_SAMPLES) : start,
    end: isCut ? state.frame * VAD_FRAME : end,
  }
  return { segment, context, ...(!followsCut && { isAfterPause: true as const }) }
}

/**
 * Returns the first sample that the recognition of the open utterance, or of one that would begin
 * now, may need, whether it turns out to be a fragment or not. `after` is as for `segmentsOf`.
 */
export function firstNeededSample(state: EndpointerState, after: number): number {
  const from = state.from ?? state.frame
  const [fragment] = precedingFragments(
    { number: state.number, from, to: from + 1 },
    state.fragments ?? [],
  )
  const start = Math.max(after, from * VAD_FRAME - PRE_ROLL_SAMPLES)
  const first = fragment ? fragment.start * VAD_FRAME : start
  return Math.max(0, Math.min(first, start - CONTEXT_SAMPLES))
}

/** Returns the seconds from the start of the session at which a frame begins. */
export function frameTime(frame: number): number {
  return (frame * VAD_FRAME) / SAMPLE_RATE
}
