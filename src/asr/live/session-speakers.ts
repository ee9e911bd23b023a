import type { SpeakerEmbedding } from '../live-recognizer.ts'
import { dot, meanVector } from '../speakers/clustering/vectors.ts'
import type { SpeakerCounts } from '../speech-engine.ts'

/** Less speech than this says too little to be taken for somebody new, in seconds. */
const SURE_SECONDS = 1
/**
 * An utterance less alike than this to the voices so far is somebody new (cosine): as much as groups of windows must
 * share to be merged when a recording is told apart; two strangers share about 0.2.
 */
const ALIKE = 0.35
/** A voice that is known by less than a second only says so much. */
const ALIKE_TO_THIN = 0.25
/** Most voices of a session, where nobody says how many there are. */
const MOST_VOICES = 20

/** A voice of a session: the sum of its embeddings by their seconds. */
type Voice = { channel: number; seconds: number; sum: Float32Array }

/** The voices of a session as plain data; `sum` is base64. The speaker is the place in the list. */
export type SpeakersState = {
  voices: { channel: number; seconds: number; sum: string }[]
  /** Who spoke last on each channel. */
  last: (number | null)[]
}

/**
 * Tells who speaks while a session goes on, each utterance once and for good: nearest voice of its channel, or
 * a new one (leader clustering). What it tells depends on the utterances so far and their order alone.
 */
export type SessionSpeakers = {
  /** The speaker, from 0 by first appearance; undefined when nothing is known of the voice nor of one before. */
  speakerOf(channel: number, voice: SpeakerEmbedding | undefined): number | undefined
  /** From which another process goes on. */
  readonly state: SpeakersState
}

/**
 * No speaker is on two channels, and each channel has one. One channel has as many as are heard, within the counts;
 * of several each has one, as the sides of a call do, unless the counts ask for more.
 */
export function createSessionSpeakers(
  { channels, counts }: { channels: number; counts: SpeakerCounts },
  from?: SpeakersState,
): SessionSpeakers {
  const most = mostVoices(channels, counts)
  const voices = (from?.voices ?? []).map(readVoice)
  const last = [...(from?.last ?? Array<null>(channels).fill(null))]

  /** Whether there may be one more, and still one for each channel that was not heard yet. */
  function hasRoom(): boolean {
    const heard = new Set(voices.map(({ channel }) => channel)).size
    return voices.length + channels - heard < most
  }

  function speakerAmong(channel: number, { embedding, seconds }: SpeakerEmbedding): number {
    const { nearest, likeness } = nearestOf(voices, { channel, embedding })
    if (nearest === undefined) return voices.push({ channel, ...begin(embedding, seconds) }) - 1
    const known = voices[nearest]!
    const isThin = known.seconds < SURE_SECONDS
    const isAlike = likeness >= (isThin ? ALIKE_TO_THIN : ALIKE)
    const isSure = seconds >= SURE_SECONDS
    if (!isAlike && isSure && hasRoom()) {
      return voices.push({ channel, ...begin(embedding, seconds) }) - 1
    }
    if (isAlike && (isSure || isThin)) learn(known, embedding, seconds)
    return nearest
  }

  return {
    speakerOf(channel, voice) {
      if (!voice) return last[channel] ?? undefined
      last[channel] = speakerAmong(channel, voice)
      return last[channel]
    },
    get state() {
      return { voices: voices.map(writeVoice), last: [...last] }
    },
  }
}

function mostVoices(channels: number, { exact = 0, min = 0, max = 0 }: SpeakerCounts): number {
  if (exact > 0) return exact
  const most = channels > 1 ? Math.max(min, channels) : MOST_VOICES
  return max > 0 ? Math.min(max, most) : most
}

function nearestOf(
  voices: readonly Voice[],
  { channel, embedding }: { channel: number; embedding: Float32Array },
): { nearest: number | undefined; likeness: number } {
  let [nearest, likeness] = [undefined as number | undefined, Number.NEGATIVE_INFINITY]
  for (const [i, voice] of voices.entries()) {
    if (voice.channel !== channel) continue
    const own = dot(meanVector([voice.sum], [1]), embedding)
    if (own > likeness) [nearest, likeness] = [i, own]
  }
  return { nearest, likeness }
}

function begin(embedding: Float32Array, seconds: number): Omit<Voice, 'channel'> {
  return { seconds, sum: embedding.map((x) => seconds * x) }
}

function learn(voice: Voice, embedding: Float32Array, seconds: number): void {
  voice.seconds += seconds
  // In single precision, as it is written down: what comes out must not depend on how often that was.
  for (let i = 0; i < voice.sum.length; i++) voice.sum[i]! += seconds * embedding[i]!
}

function writeVoice({ sum, ...voice }: Voice): SpeakersState['voices'][number] {
  const bytes = Buffer.from(sum.buffer, sum.byteOffset, sum.byteLength)
  return { ...voice, sum: bytes.toString('base64') }
}

function readVoice({ sum, ...voice }: SpeakersState['voices'][number]): Voice {
  const bytes = new Uint8Array(Buffer.from(sum, 'base64')) // A copy, so that it begins where floats may.
  return { ...voice, sum: new Float32Array(bytes.buffer) }
}
