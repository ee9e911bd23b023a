import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { mean } from '../../numbers.ts'
import type { Word } from '../../transcript/transcript.ts'
import { cpuSeconds } from '../../workers/cpu-time.ts'
import { memoizeBias } from '../recognition/decoding/vocabulary-bias.ts'
import {
  alignByAttention,
  mostAttendedFrame,
} from '../recognition/word-times/attention-alignment.ts'
import { placeBoundaries } from '../recognition/word-times/place-boundaries.ts'
import { alignToEnergy, energyLevels } from '../recognition/word-times/refine-word-times.ts'
import { isMostlyNoisy } from '../segmentation/noise.ts'
import { describeMoonshine, isMoonshine, moonshineThresholds } from './moonshine/capabilities.ts'
import { wordConfidence } from './moonshine/confidence.ts'
import type { MoonshineDecoding } from './moonshine/decoding/batch.ts'
import { loadMoonshine, type MoonshineDecoder } from './moonshine/decoding/decoder.ts'
import {
  type MoonshineDimensions,
  type MoonshineSize,
  moonshineModels,
} from './moonshine/dimensions.ts'
import { textToTokens, tokenPieces } from './moonshine/tokens.ts'
import { groupTokensIntoWords } from './moonshine/words.ts'
import { padAudio } from './pad-audio.ts'
import type {
  DraftText,
  PartialRecognition,
  Recognition,
  Recognizer,
  RecognizerCosts,
} from './recognizer.ts'

/** Seconds of audio per encoder frame (384 samples). */
const FRAME_SECONDS = 0.024
/** Attention finds the start of a word about this late, in seconds. */
const ATTENTION_DELAY = 0.02
/** The model was trained to write no more than this: faster text is a loop. */
const TOKENS_PER_SECOND = 6.5
/** Very short words need a few tokens more than their length allows. */
const SPARE_TOKENS = 3
/**
 * The encoder fails below 0.08 s and is inaccurate below half a second: shorter audio is padded.
 */
const MIN_SAMPLES = SAMPLE_RATE / 2

/** Below this mean log probability, beam search may find a better text (decision 0116). */
const CERTAIN_LOG_PROB = -0.2

/**
 * Bonus in nats for a vocabulary word. 1.5 found fewer such words and 3 found more; neither
 * invented many.
 */
const BOOST = 2.5

/**
 * Loads a Moonshine model (English, MIT, https://arxiv.org/abs/2410.15608) from its installed
 * folder.
 */
export async function createMoonshine(folder: string, size: MoonshineSize): Promise<Recognizer> {
  const dimensions = moonshineModels[size]
  const model = await loadMoonshine(folder, dimensions)
  const biasTo = memoizeBias(tokenPieces(), BOOST)
  return {
    ...describeMoonshine(size),
    thresholds: moonshineThresholds,
    async recognize(segments, options) {
      const { forceNonEmpty = false, isUrgent = false, vocabulary, draft, signal } = options
      const encoded: Float32Array[] = []
      for (const audio of segments) {
        signal.throwIfAborted()
        encoded.push(
          await model.encode(padAudio(audio, MIN_SAMPLES), { isNoisy: isMostlyNoisy(audio) }),
        )
      }
      const minTokens = forceNonEmpty ? 1 : 0
      const bias = biasTo(vocabulary)
      const drafted = draft ? draftTokens(draft) : []
      const encodedSegments = segments.map((audio, i) => {
        const bounds = { maxTokens: maxTokensFor(audio), minTokens, ...(bias && { bias }) }
        return { states: encoded[i]!, bounds, draft: drafted }
      })
      const decodings = await model.decode(encodedSegments, signal)
      // Only the greedy search applies the vocabulary bias.
      if (!isUrgent && !bias && !forceNonEmpty) {
        for (const [i, { states, bounds }] of encodedSegments.entries()) {
          const greedy = decodings[i]!
          if (mean(greedy.logProbs) >= CERTAIN_LOG_PROB) continue
          const segment = { states, greedy, maxTokens: bounds.maxTokens }
          decodings[i] = (await model.decodeBeams(segment, signal)) ?? greedy
        }
      }
      return decodings.map((decoding, i) => toRecognition(decoding, segments[i]!, dimensions))
    },
    async recognizePartial(audio, { draft, forceNonEmpty = false, vocabulary, signal }) {
      signal.throwIfAborted()
      const states = await model.encode(padAudio(audio, MIN_SAMPLES), {
        isNoisy: isMostlyNoisy(audio),
      })
      const bias = biasTo(vocabulary)
      const minTokens = forceNonEmpty ? 1 : 0
      const bounds = { maxTokens: maxTokensFor(audio), minTokens, ...(bias && { bias }) }
      const [decoding] = await model.decode([{ states, bounds, draft }], signal)
      return toPartialRecognition(decoding!, { audio, draft, dimensions })
    },
    measureCost: (seconds, { drafted }) => measureCost(model, seconds, drafted),
    close: () => model.close(),
  }
}

/** Returns a draft as Moonshine tokens; drops tokens of other models. */
function draftTokens({ text, model = '', tokens }: DraftText): number[] {
  return [...textToTokens(text), ...(isMoonshine(model) ? tokens : [])]
}

/** Too few tokens for the decoder to loop, enough to measure the cost of one. */
const BENCHMARK_TOKENS = 6
/** Each cost is the minimum of this many runs: other work on the machine only increases it. */
const BENCHMARK_RUNS = 3

async function measureCost(
  model: MoonshineDecoder,
  seconds: number,
  drafted: number,
): Promise<RecognizerCosts> {
  const audio = Float32Array.from(
    { length: seconds * SAMPLE_RATE },
    (_, i) => 0.1 * Math.sin(i * i),
  )
  const { signal } = new AbortController()
  const tokens = Array.from({ length: drafted }, (_, i) => 300 + i)
  const costOfDecoding = async (count: number, draft: readonly number[]) => {
    const from = cpuSeconds()
    const states = await model.encode(audio, { isNoisy: false })
    const bounds = { maxTokens: count, minTokens: count }
    await model.decode([{ states, bounds, draft }], signal)
    return cpuSeconds() - from
  }
  await costOfDecoding(BENCHMARK_TOKENS, []) // The first call of a session allocates its memory.
  const lowest = async (count: number, draft: readonly number[]) => {
    const costs = await Array.fromAsync({ length: BENCHMARK_RUNS }, () =>
      costOfDecoding(count, draft),
    )
    return Math.min(...costs)
  }
  const singleCost = await lowest(1, [])
  const allTokensCost = await lowest(BENCHMARK_TOKENS, [])
  const firstTokenCost = drafted > 0 ? await lowest(1, tokens) : singleCost
  return {
    encode: firstTokenCost,
    perToken: Math.max(0, allTokensCost - singleCost) / (BENCHMARK_TOKENS - 1),
  }
}

function maxTokensFor(audio: Float32Array): number {
  return Math.ceil((audio.length / SAMPLE_RATE) * TOKENS_PER_SECOND) + SPARE_TOKENS
}

function toRecognition(
  decoding: MoonshineDecoding,
  audio: Float32Array,
  dimensions: MoonshineDimensions,
): Recognition {
  const { tokens, logProbs, attention, frames, stopReason } = decoding
  return {
    words:
      tokens.length === 0
        ? []
        : timedWords(
            decoding,
            audio,
            alignByAttention(attention, { heads: dimensions.alignmentHeads, frames }),
          ),
    language: 'en',
    logProbability: mean(logProbs),
    complete: stopReason === 'end',
    warnings: [],
  }
}

type PartialInput = {
  audio: Float32Array
  draft: readonly number[]
  dimensions: MoonshineDimensions
}

/**
 * Times words by the frame that each token attends to most: a tenth of the cost of an alignment,
 * and accurate to a syllable.
 */
function toPartialRecognition(
  decoding: MoonshineDecoding,
  { audio, draft, dimensions }: PartialInput,
): PartialRecognition {
  const { tokens, logProbs, attention, frames } = decoding
  const seconds = audio.length / SAMPLE_RATE
  let latest = 0
  const starts = attention.map((row) => {
    latest = Math.max(latest, mostAttendedFrame(row, dimensions.alignmentHeads, frames))
    return Math.min(latest * FRAME_SECONDS, seconds)
  })
  if (starts.length === tokens.length) starts.push(seconds)
  const rough = groupTokensIntoWords(tokens, starts)
  const firstDifference = tokens.findIndex((token, i) => token !== draft[i])
  const matching = firstDifference < 0 ? tokens.length : firstDifference
  const logProbability = mean(logProbs)
  const words = rough.map(({ text, start, end, tokens: { first, last } }) => {
    return {
      text,
      start,
      end,
      confidence: wordConfidence(logProbs.slice(first, last + 1), logProbability),
    }
  })
  const agreed = rough.filter((word) => word.tokens.last < matching).length
  return { words, agreed, language: 'en', logProbability, tokens }
}

function timedWords(
  { tokens, logProbs }: MoonshineDecoding,
  audio: Float32Array,
  frames: readonly number[],
): Word[] {
  const seconds = audio.length / SAMPLE_RATE
  const starts = frames.map((frame) => Math.min(frame * FRAME_SECONDS, seconds))
  // A decoding that was cut off has no end token: its last word runs to the end of the audio.
  if (starts.length === tokens.length) starts.push(seconds)
  const rough = groupTokensIntoWords(tokens, starts)
  const words = placeBoundaries(
    alignToEnergy(rough, energyLevels(audio), { delay: ATTENTION_DELAY, seconds }),
    audio,
  )
  return words.map(({ text, start, end, tokens: { first, last } }) => {
    const confidence = wordConfidence(logProbs.slice(first, last + 1), mean(logProbs))
    return { text, start, end, confidence }
  })
}
