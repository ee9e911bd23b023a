import { createHash } from 'node:crypto'
import {
  convertAudio,
  decibels,
  rmsOf,
  roundedFrames,
  writeChannel,
} from '../../../src/asr/live-engine/detection/audio-conversion.ts'
import {
  type LiveEngine,
  type LiveUtterance,
  MAX_DETECT_FRAMES,
} from '../../../src/asr/live-engine/live-engine.ts'
import type { FinalEmbedding } from '../../../src/asr/live-engine/utterance-embedder.ts'
import { readSamples } from '../../../src/asr/segmentation/read-samples.ts'
import { VAD_FRAME } from '../../../src/asr/segmentation/vad-frames.ts'
import { SAMPLE_RATE } from '../../../src/audio/pcm.ts'
import type { Word } from '../../../src/transcript/transcript.ts'
/** How the fake live recognizer behaves. */
export type FakeLiveOptions = {
  /** Emits one word, a hash of the samples, instead of the text: for tests that compare runs. */
  fingerprint?: boolean
  /**
   * Called before each call is answered: a rejection fails the call, a pending promise delays it.
   * For `embed`, which is part of a final, it fails the speaker embedding only.
   */
  onLive?: (
    kind: 'vad' | 'final' | 'partial' | 'embed',
    signal: AbortSignal,
  ) => Promise<void> | void
  capacity?: number
  /** Where a call names no language, the first of these is reported. */
  languages?: readonly string[]
  /** Warnings of each final. */
  warnings?: readonly string[]
  /** The confidence of words of recordings and finals; 0.9 by default. */
  confidence?: number
}

/** Audio louder than this (root mean square, 1 = full scale) is speech. */
const SPEECH = 0.01
/** Duration of each word of a partial, in seconds. */
const PARTIAL_WORD = 0.3

/**
 * Live recognition for tests: treats all audio that is not silent as speech, and recognizes
 * `spokenWords` in it.
 */
export function createFakeLiveEngine(
  spokenWords: readonly string[],
  options: FakeLiveOptions,
): LiveEngine {
  const { onLive, fingerprint = false, languages: [usual] = ['en'], warnings = [] } = options
  return {
    capacity: options.capacity,
    load: 0,
    weightWithoutPartials: 0.5,
    async detectSpeech(audio, { from, frames, isEnd }, { signal }) {
      await onLive?.('vad', signal)
      signal.throwIfAborted()
      const start = from * VAD_FRAME
      const range = { from: start, to: start + MAX_DETECT_FRAMES * VAD_FRAME }
      const { path, start: offset, format } = audio
      const planes = convertAudio({ path, start: offset, format, frames, isEnd }, range)
      const recognized = planes.map((plane, channel) => {
        const whole = isEnd ? plane : plane.subarray(0, wholeFrames(plane.length))
        const samples = roundedFrames(whole, VAD_FRAME)
        writeChannel(audio.channels[channel]!, start, samples)
        return frameLoudness(samples)
      })
      return {
        probabilities: recognized.map((frames) => frames.map((value) => (value > SPEECH ? 1 : 0))),
        levels: recognized.map((frames) => frames.map(decibels)),
      }
    },
    async recognizeFinal(utterance, { signal, model, language = usual!, wantsEmbedding = false }) {
      await onLive?.('final', signal)
      signal.throwIfAborted()
      const recognized = readUtterance(utterance)
      const texts = fingerprint ? [recognized.hash] : spokenWords
      const step = (recognized.end - recognized.start) / texts.length
      const spoken = recognized.hasSpeech ? spread(texts, recognized, step) : []
      const words = spoken.map((word) => ({ ...word, confidence: options.confidence ?? 0.9 }))
      const speaker =
        wantsEmbedding &&
        recognized.hasSpeech &&
        (await embedUtterance(recognized, options, signal))
      return { words, model, language, warnings: [...warnings], ...speaker }
    },
    async recognizePartial(utterance, { signal, model, language = usual! }) {
      await onLive?.('partial', signal)
      signal.throwIfAborted()
      const recognized = readUtterance(utterance)
      const count = Math.floor((recognized.end - recognized.start) / PARTIAL_WORD)
      const texts = fingerprint ? [recognized.hash] : spokenWords.slice(0, count)
      const step = fingerprint ? recognized.end - recognized.start : PARTIAL_WORD
      return {
        words: recognized.hasSpeech ? spread(texts, recognized, step) : [],
        model,
        language,
        draft: [],
      }
    },
  }
}

function wholeFrames(samples: number): number {
  return samples - (samples % VAD_FRAME)
}

function frameLoudness(samples: Int16Array): Float32Array {
  return Float32Array.from({ length: samples.length / VAD_FRAME }, (_, frame) => {
    return rmsOf(samples.subarray(frame * VAD_FRAME, (frame + 1) * VAD_FRAME))
  })
}

type RecognizedAudio = {
  hasSpeech: boolean
  start: number
  end: number
  hash: string
  /** Largest sample, 1 = full scale. */
  peak: number
}

/**
 * The number of speakers that the fake distinguishes. Each step of 6 dB in loudness is another
 * speaker; with `fingerprint`, the hash decides.
 */
const VOICES = 4
const VOICE_DECIBELS = 6

/** Embeds the speaker by loudness; with `fingerprint` the hash decides. */
async function embedUtterance(
  { hash, peak, start, end }: RecognizedAudio,
  { onLive, fingerprint }: FakeLiveOptions,
  signal: AbortSignal,
): Promise<FinalEmbedding> {
  try {
    await onLive?.('embed', signal)
  } catch (error) {
    return { embeddingError: String(error) }
  }
  const step = fingerprint
    ? Number.parseInt(hash, 16)
    : Math.floor(-decibels(peak) / VOICE_DECIBELS)
  const embedding = new Float32Array(VOICES)
  embedding[step % VOICES] = 1
  return { speakerEmbedding: { embedding, seconds: end - start } }
}

/** Reads an utterance and finds the seconds between which it is not silent. */
function readUtterance({ path, segment }: LiveUtterance): RecognizedAudio {
  const floats = readSamples(path, segment.start, segment.end)
  const samples = Int16Array.from(floats, (sample) => sample * 32_768)
  const padded = new Int16Array(Math.ceil(samples.length / VAD_FRAME) * VAD_FRAME)
  padded.set(samples)
  const voiced = frameLoudness(padded).map((value) => (value > SPEECH ? 1 : 0))
  const first = segment.start + voiced.indexOf(1) * VAD_FRAME
  const last = Math.min(segment.end, segment.start + (voiced.lastIndexOf(1) + 1) * VAD_FRAME)
  return {
    hasSpeech: voiced.includes(1),
    start: first / SAMPLE_RATE,
    end: last / SAMPLE_RATE,
    peak: floats.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0),
    hash: createHash('sha256').update(samples).digest('hex').slice(0, 12),
  }
}

function spread(texts: readonly string[], { start }: RecognizedAudio, step: number): Word[] {
  return texts.map((text, i) => {
    return { text, start: start + i * step, end: start + (i + 0.8) * step, confidence: 0.9 }
  })
}
