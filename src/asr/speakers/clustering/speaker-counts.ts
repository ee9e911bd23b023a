import { sum } from '../../../numbers.ts'
import type { SpeakerCounts } from '../../speech-engine.ts'
import type { ChannelSpeakers } from './cluster-speakers.ts'
import { dot } from './vectors.ts'

/**
 * Speakers with a higher cosine similarity are one person, whatever count was requested. In
 * concatenated recordings with a known number of speakers, different speakers reached at most 0.67.
 * A voice split in two because too many were requested mostly had 0.7 to 0.9.
 */
const SAME_PERSON = 0.7

/**
 * Chooses how many speakers each channel has: `start` of each, then as near to the counts as
 * possible. Adds speakers where the new one would be least similar to the others, and removes them
 * where two are most similar. Each channel keeps one, since no speaker is on two channels; a
 * channel that cannot be split further, or only into speakers of the same voice, stays as it is.
 */
export function chooseSpeakerCounts(
  channels: readonly ChannelSpeakers[],
  { start, counts }: { start: readonly number[]; counts: SpeakerCounts },
): number[] {
  const [min, max] = boundsOf(counts)
  const [only] = channels
  // No choice between channels: skip the counts in between, each of which takes seconds for a long
  // recording.
  if (only && channels.length === 1)
    return [chooseSpeakerCount(only, { start: start[0]!, min, max })]
  const chosen = [...start]
  for (let total = sum(chosen); total < min; total++) {
    const channel = lowest(channels.map((speakers, i) => splitSimilarity(speakers, chosen[i]! + 1)))
    if (channel === undefined) break
    chosen[channel]!++
  }
  for (let total = sum(chosen); total > max; total--) {
    const max = channels.map((speakers, i) =>
      chosen[i]! > 1 ? maxSimilarityAt(speakers, chosen[i]!) : undefined,
    )
    const channel = lowest(
      max.map((similarity) => (similarity === undefined ? undefined : -similarity)),
    )
    if (channel === undefined) break
    chosen[channel]!--
  }
  return chosen
}

function chooseSpeakerCount(
  speakers: ChannelSpeakers,
  { start, min, max }: { start: number; min: number; max: number },
): number {
  const allowedCount = Math.min(Math.max(start, min), max)
  if (allowedCount <= start) return Math.min(allowedCount, speakers.centroids(allowedCount).length)
  if (splitSimilarity(speakers, allowedCount) !== undefined) return allowedCount
  let count = start
  while (count + 1 < allowedCount && splitSimilarity(speakers, count + 1) !== undefined) count++
  return count
}

/** As `maxSimilarityAt`; undefined also when two of the speakers have the same voice. */
function splitSimilarity(speakers: ChannelSpeakers, count: number): number | undefined {
  const similarity = maxSimilarityAt(speakers, count)
  return similarity !== undefined && similarity <= SAME_PERSON ? similarity : undefined
}

function boundsOf({ exact = 0, min = 0, max = 0 }: SpeakerCounts): [number, number] {
  if (exact > 0) return [exact, exact]
  return [min, max > 0 ? max : Number.POSITIVE_INFINITY]
}

/**
 * Returns the cosine of the two most similar speakers among `count`; undefined when there are not
 * so many.
 */
function maxSimilarityAt(speakers: ChannelSpeakers, count: number): number | undefined {
  const centroids = speakers.centroids(count)
  if (centroids.length < count) return undefined
  let max = Number.NEGATIVE_INFINITY
  for (const [i, a] of centroids.entries()) {
    for (const b of centroids.slice(i + 1)) max = Math.max(max, dot(a, b))
  }
  return max
}

function lowest(values: readonly (number | undefined)[]): number | undefined {
  let best: number | undefined
  for (const [i, value] of values.entries()) {
    if (value !== undefined && (best === undefined || value < values[best]!)) best = i
  }
  return best
}
