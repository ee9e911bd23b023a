import { dot, meanDirection } from '../speakers/clustering/vectors.ts'
import type { SpeakerCounts } from '../speech-engine.ts'
import type { SpeakerEmbedding } from './live-engine.ts'

/** From this many seconds of speech on, an utterance may become a new speaker. */
const SUFFICIENT_SECONDS = 1
/**
 * An utterance less similar than this to all speakers so far belongs to a new one (cosine): the
 * similarity at which groups of windows are merged when a recording is diarized. Two different
 * speakers have about 0.2.
 */
const SAME_SPEAKER_SIMILARITY = 0.35
/** The same threshold for a speaker with less than `SUFFICIENT_SECONDS` of speech so far. */
const SAME_BRIEF_SPEAKER_SIMILARITY = 0.25
/** Maximum speakers of a session, unless the counts give a number. */
const MAX_SPEAKERS = 20

/** A speaker of a session: the sum of its embeddings, weighted by their seconds. */
type SessionSpeaker = { channel: number; seconds: number; sum: Float32Array }

/**
 * The speakers of a session as plain data; `sum` is base64. The speaker number is the index in the
 * list.
 */
export type SpeakersState = {
  speakers: { channel: number; seconds: number; sum: string }[]
  /** The speaker of the last utterance on each channel. */
  last: (number | null)[]
}

/**
 * Assigns a speaker to each utterance of a running session, once and finally: the nearest speaker
 * of its channel, or a new one (leader clustering). The result depends on the utterances so far and
 * their order alone.
 */
export type SessionSpeakers = {
  /**
   * Returns the speaker, numbered from 0 by first appearance; undefined when there is neither an
   * embedding nor an earlier speaker on the channel.
   */
  speakerOf(channel: number, embedding: SpeakerEmbedding | undefined): number | undefined
  /** The state from which another process can resume. */
  readonly state: SpeakersState
}

/**
 * Creates the speakers of a session, or restores them from `from`. A speaker belongs to one
 * channel. A single channel has as many speakers as are detected, within the counts; each of
 * several channels has one, like the sides of a call, unless the counts ask for more.
 */
export function createSessionSpeakers(
  { channels, counts }: { channels: number; counts: SpeakerCounts },
  from?: SpeakersState,
): SessionSpeakers {
  const max = maxSpeakers(channels, counts)
  const speakers = (from?.speakers ?? []).map(readSpeaker)
  const last = [...(from?.last ?? Array<null>(channels).fill(null))]

  /**
   * Returns whether one more speaker is allowed. One is reserved for each channel that has had no
   * speech.
   */
  function hasSpace(): boolean {
    const channelsWithSpeaker = new Set(speakers.map(({ channel }) => channel)).size
    return speakers.length + channels - channelsWithSpeaker < max
  }

  function assignSpeaker(channel: number, { embedding, seconds }: SpeakerEmbedding): number {
    const { nearest, similarity } = nearestOf(speakers, { channel, embedding })
    if (nearest === undefined)
      return speakers.push({ channel, ...newSpeaker(embedding, seconds) }) - 1
    const nearestSpeaker = speakers[nearest]!
    const isNearestBrief = nearestSpeaker.seconds < SUFFICIENT_SECONDS
    const isSimilar =
      similarity >= (isNearestBrief ? SAME_BRIEF_SPEAKER_SIMILARITY : SAME_SPEAKER_SIMILARITY)
    const isSufficient = seconds >= SUFFICIENT_SECONDS
    if (!isSimilar && isSufficient && hasSpace()) {
      return speakers.push({ channel, ...newSpeaker(embedding, seconds) }) - 1
    }
    if (isSimilar && (isSufficient || isNearestBrief))
      updateSpeaker(nearestSpeaker, embedding, seconds)
    return nearest
  }

  return {
    speakerOf(channel, embedding) {
      if (!embedding) return last[channel] ?? undefined
      last[channel] = assignSpeaker(channel, embedding)
      return last[channel]
    },
    get state() {
      return { speakers: speakers.map(writeSpeaker), last: [...last] }
    },
  }
}

function maxSpeakers(channels: number, { exact = 0, min = 0, max = 0 }: SpeakerCounts): number {
  if (exact > 0) return exact
  const limit = channels > 1 ? Math.max(min, channels) : MAX_SPEAKERS
  return max > 0 ? Math.min(max, limit) : limit
}

function nearestOf(
  speakers: readonly SessionSpeaker[],
  { channel, embedding }: { channel: number; embedding: Float32Array },
): { nearest: number | undefined; similarity: number } {
  let [nearest, similarity] = [undefined as number | undefined, Number.NEGATIVE_INFINITY]
  for (const [i, speaker] of speakers.entries()) {
    if (speaker.channel !== channel) continue
    const cosine = dot(meanDirection([speaker.sum], [1]), embedding)
    if (cosine > similarity) [nearest, similarity] = [i, cosine]
  }
  return { nearest, similarity }
}

function newSpeaker(embedding: Float32Array, seconds: number): Omit<SessionSpeaker, 'channel'> {
  return { seconds, sum: embedding.map((x) => seconds * x) }
}

function updateSpeaker(speaker: SessionSpeaker, embedding: Float32Array, seconds: number): void {
  speaker.seconds += seconds
  // Adds in single precision, as the sum is stored: the result must not depend on how often it was
  // stored.
  for (let i = 0; i < speaker.sum.length; i++) speaker.sum[i]! += seconds * embedding[i]!
}

function writeSpeaker({ sum, ...speaker }: SessionSpeaker): SpeakersState['speakers'][number] {
  const bytes = Buffer.from(sum.buffer, sum.byteOffset, sum.byteLength)
  return { ...speaker, sum: bytes.toString('base64') }
}

function readSpeaker({ sum, ...speaker }: SpeakersState['speakers'][number]): SessionSpeaker {
  const bytes = new Uint8Array(Buffer.from(sum, 'base64')) // Copied for alignment.
  return { ...speaker, sum: new Float32Array(bytes.buffer) }
}
