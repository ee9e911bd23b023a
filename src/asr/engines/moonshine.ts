import type { Word } from '../../transcript/transcript.ts'
import { alignTokens } from '../moonshine/alignment.ts'
import { wordConfidence } from '../moonshine/confidence.ts'
import type { Decoding, MoonshineShape } from '../moonshine/decoder.ts'
import { loadMoonshine } from '../moonshine/decoder.ts'
import { loudness, snapToSound } from '../moonshine/snap.ts'
import { wordsOf } from '../moonshine/words.ts'
import type { Recognition, Recognizer } from '../recognizer.ts'
import { SAMPLE_RATE } from '../speech-engine.ts'

/** Seconds of audio per encoder frame (384 samples). */
const FRAME = 0.024
/** The model was trained to write no more: faster text is a loop. */
const TOKENS_PER_SECOND = 6.5
/** Very short words need a few tokens more than their length allows. */
const SPARE_TOKENS = 3
/** The encoder fails under 0.08 s and hears badly under half a second: shorter audio is padded. */
const MIN_SAMPLES = SAMPLE_RATE / 2

/** Sizes of the published models. */
export const moonshineShapes = {
  base: { layers: 8, heads: 8, headSize: 52, hidden: 416, alignmentHeads: 6 },
  tiny: { layers: 6, heads: 8, headSize: 36, hidden: 288, alignmentHeads: 6 },
} as const satisfies Record<string, MoonshineShape>

/** Loads a Moonshine model (English, MIT, https://arxiv.org/abs/2410.15608) from its installed folder. */
export async function createMoonshine(
  folder: string,
  size: keyof typeof moonshineShapes,
): Promise<Recognizer> {
  const shape = moonshineShapes[size]
  const model = await loadMoonshine(folder, shape)
  return {
    id: `moonshine-${size}`,
    capabilities: { languages: ['en'], wordTimes: true, maxSeconds: 30 },
    async recognize(segments, { insist = false, signal }) {
      const encoded: Float32Array[] = []
      for (const audio of segments) {
        signal.throwIfAborted()
        encoded.push(await model.encode(padded(audio)))
      }
      const bounds = segments.map((audio) => {
        const maxTokens = Math.ceil((audio.length / SAMPLE_RATE) * TOKENS_PER_SECOND) + SPARE_TOKENS
        return { maxTokens, minTokens: insist ? 1 : 0 }
      })
      const decodings = await model.decode(encoded, bounds, signal)
      return decodings.map((decoding, i) => toRecognition(decoding, segments[i]!, shape))
    },
    close: () => model.close(),
  }
}

function padded(audio: Float32Array): Float32Array {
  if (audio.length >= MIN_SAMPLES) return audio
  const longer = new Float32Array(MIN_SAMPLES)
  longer.set(audio)
  return longer
}

function toRecognition(
  decoding: Decoding,
  audio: Float32Array,
  shape: MoonshineShape,
): Recognition {
  const { tokens, logProbs, attention, frames, stopped } = decoding
  return {
    words:
      tokens.length === 0
        ? []
        : timedWords(decoding, audio, alignTokens(attention, shape.alignmentHeads, frames)),
    language: 'en',
    logProbability: meanOf(logProbs),
    complete: stopped === 'end',
    warnings: [],
  }
}

function timedWords(
  { tokens, logProbs }: Decoding,
  audio: Float32Array,
  frames: readonly number[],
): Word[] {
  const seconds = audio.length / SAMPLE_RATE
  const starts = frames.map((frame) => Math.min(frame * FRAME, seconds))
  // A decoding that was cut has no end token: its last word runs to the end of the audio.
  if (starts.length === tokens.length) starts.push(seconds)
  const rough = wordsOf(tokens, starts)
  const spans = snapToSound(rough, loudness(audio))
  return rough.map(({ text, tokens: { first, last } }, i) => {
    return {
      text,
      ...spans[i]!,
      confidence: wordConfidence(logProbs.slice(first, last + 1), meanOf(logProbs)),
    }
  })
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
