import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Device } from '../../config/config.ts'
import type { LocalModel } from '../../models/install/installed-models.ts'
import { cpuSeconds } from '../../workers/cpu-time.ts'
import type {
  PartialRecognition,
  PartialRecognizeOptions,
  Recognition,
  Recognizer,
  RecognizerCosts,
  RecognizerThresholds,
} from './recognizer.ts'
import { describeWhisper } from './whisper/capabilities.ts'
import { decodeDraft, detectLanguage, meanLogProbability } from './whisper/decoding/decode.ts'
import { createFeatureExtractor } from './whisper/features.ts'
import { loadWhisper } from './whisper/network.ts'
import { createTokenizer } from './whisper/tokenizer.ts'
import {
  boundsOf,
  chooseDetectedLanguage,
  encodeSegments,
  identifyLanguage,
  promptOf,
  transcribeSegments,
  type WhisperModel,
  type WhisperTranscription,
} from './whisper/transcribe.ts'
import { approximateWords, timedWords } from './whisper/words.ts'

/**
 * When results of Whisper base are trusted. Of 97 segments of clear speech in six languages, one
 * had a log probability below -0.9 and nearly all were above -0.6; text invented on music had -1.8.
 * The other values are those of Moonshine.
 */
const whisperThresholds: RecognizerThresholds = {
  minRetryLogProb: -0.8,
  minLogProb: -1,
  minConfidenceInNoise: 0.1,
  minPartialLogProb: -1,
  minPartialWordConfidence: 0.5,
}

/**
 * Loads an installed Whisper model (https://arxiv.org/abs/2212.04356). Throws `Error` when the
 * folder holds no converted model.
 */
export async function createWhisper(
  stored: Pick<LocalModel, 'id' | 'revision' | 'languages' | 'folder'>,
  { device = 'cpu' }: { device?: Device } = {},
): Promise<Recognizer> {
  const network = await loadWhisper(stored.folder, { device })
  const pieces = JSON.parse(
    await readFile(join(stored.folder, 'vocabulary.json'), 'utf8'),
  ) as string[]
  const model: WhisperModel = {
    network,
    tokenizer: createTokenizer(pieces, network.config),
    extract: createFeatureExtractor(network.config.mels),
  }
  const info = describeWhisper(stored)
  return {
    ...info,
    thresholds: whisperThresholds,
    async recognize(segments, { forceNonEmpty = false, ...options }) {
      const transcribeOptions = { ...options, forceNonEmpty, task: 'transcribe' as const }
      const transcriptions = await transcribeSegments(model, segments, transcribeOptions)
      return transcriptions.map((text, i) => toRecognition(model, text, segments[i]!))
    },
    ...(info.capabilities.translates && {
      translate: (segments, options) => translate(model, segments, options),
    }),
    recognizePartial: (audio, options) => recognizePartial(model, audio, options),
    identifyLanguage: (audio, options) => {
      return identifyLanguage(model, audio.subarray(0, 30 * SAMPLE_RATE), options)
    },
    measureCost: (seconds, { drafted }) => measureCost(model, seconds, drafted),
    close: () => network.close(),
  }
}

function toRecognition(
  { network, tokenizer }: WhisperModel,
  { decoding, language }: WhisperTranscription,
  audio: Float32Array,
): Recognition {
  const heads = network.config.alignmentHeads.length
  return {
    words: timedWords(tokenizer, { decoding, language, audio, heads }),
    language,
    logProbability: meanLogProbability(decoding),
    complete: decoding.stopReason === 'end',
    warnings: [],
  }
}

/**
 * Translates segments into English. The segments contain speech, so an empty text is not allowed.
 */
async function translate(
  model: WhisperModel,
  segments: readonly Float32Array[],
  { language, signal }: { language: string; signal: AbortSignal },
): Promise<string[]> {
  const transcriptions = await transcribeSegments(model, segments, {
    language,
    languages: [language],
    vocabulary: [],
    task: 'translate',
    forceNonEmpty: true,
    signal,
  })
  return transcriptions.map(({ decoding }) => model.tokenizer.textOf(decoding.tokens).trim())
}

async function recognizePartial(
  model: WhisperModel,
  audio: Float32Array,
  { draft, signal, ...languageOptions }: PartialRecognizeOptions,
): Promise<PartialRecognition> {
  const { network, tokenizer } = model
  const encoded = await encodeSegments(model, [audio], signal)
  const [detection] = await detectLanguage(network, encoded)
  const language = chooseDetectedLanguage(detection!, languageOptions)
  const bounds = boundsOf(audio, language)
  const request = { ...bounds, segmentIndex: 0, language, temperature: 0, seed: 0, tokens: draft }
  const prompt = promptOf(tokenizer, languageOptions.vocabulary)
  const decodeOptions = { prompt, task: 'transcribe', signal } as const
  const decoding = await decodeDraft(network, encoded, request, decodeOptions)
  const heads = network.config.alignmentHeads.length
  const words = approximateWords(tokenizer, { decoding, language, audio, heads })
  const firstDifference = decoding.tokens.findIndex((token, i) => token !== draft[i])
  const matching = firstDifference < 0 ? decoding.tokens.length : firstDifference
  return {
    words: words.map(({ tokens, ...word }) => word),
    agreed: words.filter(({ tokens }) => tokens.last < matching).length,
    language,
    logProbability: meanLogProbability(decoding),
    tokens: decoding.tokens,
  }
}

/** Too few tokens for the decoder to loop, enough to measure the cost of one. */
const BENCHMARK_TOKENS = 6

async function measureCost(
  model: WhisperModel,
  seconds: number,
  drafted: number,
): Promise<RecognizerCosts> {
  const { network } = model
  const audio = Float32Array.from(
    { length: seconds * SAMPLE_RATE },
    (_, i) => 0.1 * Math.sin(i * i),
  )
  const { signal } = new AbortController()
  const tokens = Array.from({ length: drafted }, (_, i) => 300 + i)
  const costOfDecoding = async (count: number) => {
    const from = cpuSeconds()
    const encoded = await encodeSegments(model, [audio], signal)
    await detectLanguage(network, encoded)
    const decoder = network.decoder(encoded, [0])
    await decoder.step([[network.config.tokens.start, ...tokens]], { lastOnly: true })
    for (let i = 1; i < count; i++) await decoder.step([[300 + i]], { lastOnly: true })
    decoder.close()
    return cpuSeconds() - from
  }
  await costOfDecoding(BENCHMARK_TOKENS) // The first call of a session allocates its memory.
  const firstTokenCost = await costOfDecoding(1)
  const allTokensCost = await costOfDecoding(BENCHMARK_TOKENS)
  return {
    encode: firstTokenCost,
    perToken: Math.max(0, allTokensCost - firstTokenCost) / (BENCHMARK_TOKENS - 1),
  }
}
