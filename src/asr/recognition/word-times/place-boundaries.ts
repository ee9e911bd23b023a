import {
  type BoundaryNetwork,
  candidateInputs,
  medianOffset,
  readBoundaryNetwork,
  scoreCandidates,
  spectrumOf,
} from './boundary-network.ts'
import { boundarySounds } from './boundary-sounds.ts'
import { isTooShort, MIN_WORD_SECONDS } from './implausible-words.ts'
import type { TimeSpan } from './refine-word-times.ts'

/** Words closer than this touch: the end of one is the start of the next. */
const TOUCHING = 0.03
/** After a pause of these seconds, the sound before it says nothing about a start. */
export const LONG_PAUSE = 0.45

let network: BoundaryNetwork | undefined

/**
 * Moves the starts of words, by up to 0.15 s, to where the sound changes as at the start of a word
 * (decision 0122). The spans ascend and do not overlap, in seconds of `audio` (16 kHz); so do the
 * results. Words that are too short to have been spoken stay where they are, and no other becomes
 * too short: the length shows which words attention found no place for.
 */
export function placeBoundaries<W extends TimeSpan & { text: string }>(
  words: readonly W[],
  audio: Float32Array,
): W[] {
  network ??= readBoundaryNetwork()
  const spectrum = spectrumOf(audio)
  const placed: W[] = []
  for (const [i, word] of words.entries()) {
    const { text, start, end } = word
    const before = words[i - 1]
    const pause = before ? start - before.end : Number.POSITIVE_INFINITY
    const sounds = boundarySounds(pause < LONG_PAUSE ? before?.text : undefined, text)
    const { probabilities } = scoreCandidates(network, candidateInputs(spectrum, start), sounds)
    const previous = placed.at(-1)
    const isAfterShort = before !== undefined && isTooShort(before)
    let earliest = 0
    if (previous) earliest = isAfterShort ? previous.end : previous.start + MIN_WORD_SECONDS
    const moved = start + medianOffset(probabilities)
    const own = isTooShort(word)
      ? start
      : Math.max(earliest, Math.min(end - MIN_WORD_SECONDS, moved))
    if (previous && !isAfterShort && (pause < TOUCHING || previous.end > own)) previous.end = own
    placed.push({ ...word, start: own })
  }
  return placed
}
