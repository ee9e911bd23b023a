import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { Segment } from '../engines/recognizer.ts'

/**
 * A task times out after this many seconds, plus a time per second of audio: far more than a slow
 * machine needs, so that only a hung process is killed.
 */
export const TASK_TIMEOUT_S = 60
/**
 * Clustering takes 0.001 s per second of speech on a fast core, several times that when more
 * speakers are requested than there are.
 */
const SPEAKERS_TIMEOUT_PER_SECOND = 0.1

/**
 * Returns the timeout in seconds of a task over these segments, at `perSecond` for each second of
 * them.
 */
export function timeoutFor(segments: readonly Segment[], perSecond: number): number {
  const samples = segments.reduce((sum, { start, end }) => sum + end - start, 0)
  return TASK_TIMEOUT_S + (perSecond * samples) / SAMPLE_RATE
}

/**
 * Returns the timeout in seconds of diarization: the work grows with the speech of all channels
 * together.
 */
export function speakersTimeoutFor({ utterances }: Transcript): number {
  const speech = utterances.reduce((sum, { words }) => {
    return sum + (words.at(-1)?.end ?? 0) - (words[0]?.start ?? 0)
  }, 0)
  return TASK_TIMEOUT_S + SPEAKERS_TIMEOUT_PER_SECOND * speech
}
