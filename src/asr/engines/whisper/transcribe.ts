import { deflateSync } from 'node:zlib'
import { isWrittenIn, scriptOf } from '../../languages/scripts.ts'
import {
  type DecodeOptions,
  type Detection,
  decodeBatch,
  detectLanguage,
  meanLogProbability,
  type WhisperDecoding,
  type WhisperRequest,
} from './decoding/decode.ts'
import { decodeBeams } from './decoding/decode-with-beams.ts'
import { type FeatureExtractor, HOP } from './features.ts'
import type { EncodedAudio, WhisperNetwork } from './network.ts'
import type { WhisperTokenizer } from './tokenizer.ts'
import type { WhisperConfig } from './whisper-config.ts'

/** A loaded model with its tokenizer and its feature extractor. */
export type WhisperModel = {
  network: WhisperNetwork
  tokenizer: WhisperTokenizer
  extract: FeatureExtractor
}

export type WhisperOptions = Omit<DecodeOptions, 'prompt'> & {
  /** Undefined: the likeliest of `languages`, or of all where that list is empty. */
  language: string | undefined
  languages: readonly string[]
  /** Words to prefer. */
  vocabulary: readonly string[]
  /** Keeps text even where the model detects no speech. */
  forceNonEmpty: boolean
}

/** The text of one segment. */
export type WhisperTranscription = {
  decoding: WhisperDecoding
  language: string
  detection: Detection
}

/** Feature frames of the audio that Whisper was trained on: 30 s. */
const FULL_FRAMES = 3000
/**
 * Feature frames of silence that follow the audio in the encoder. Padding to 30 s costs many times
 * as much and is tried where the text is doubtful.
 */
const SILENCE_FRAMES = 300
/**
 * This much trailing silence is enough for a rough language estimate: 54 of 60 clips of 3 s were
 * right, 53 with 3 s of silence.
 */
const ROUGH_SILENCE_FRAMES = 100
/** Text that shrinks by more than this repeats itself (openai/whisper). */
const MAX_COMPRESSION = 2.4
/** Below this the text is doubtful (openai/whisper). */
const MIN_LOG_PROBABILITY = -1
/** Below this mean log probability, beam search may find a better text, at three times the cost. */
const CERTAIN_LOG_PROB = -0.15
/** Doubtful text above this probability of no speech is invented (openai/whisper). */
const NO_SPEECH = 0.6
/**
 * Below this probability the language is identified again. This raised the number of correct clips
 * of 3 s from 53 to 58 of 60; 9 clips were identified twice.
 */
const LIKELY_LANGUAGE = 0.8
/** Tried one after another while a text is doubtful. */
const TEMPERATURES = [0.3, 0.6]
/** Maximum tokens of a prompt and of a text: half of what fits, as in openai/whisper. */
const MAX_TEXT_TOKENS = 224
/**
 * The fastest speech, in tokens per second, and the tokens that very short audio may have beyond
 * that.
 */
const TOKENS_PER_SECOND = { latin: 9, other: 24 }
const SPARE_TOKENS = 6
/** Keys and values of encoded audio that are held at once, in bytes. */
const MAX_ENCODED_BYTES = 2 ** 28
/** With a prompt, text with fewer words per second than this has collapsed. */
const MIN_WORDS = 0.5

/**
 * Writes the text of segments of at most 30 s (16 kHz, -1 to 1). The language is detected first,
 * since a wrong one makes the model translate or invent. Doubtful text is decoded again with the
 * audio padded to 30 s, then with random sampling from fixed seeds; the likeliest text is returned.
 */
export async function transcribeSegments(
  model: WhisperModel,
  segments: readonly Float32Array[],
  options: WhisperOptions,
): Promise<WhisperTranscription[]> {
  const transcriptions: WhisperTranscription[] = []
  const size = batchSize(model.network.config)
  for (let i = 0; i < segments.length; i += size) {
    transcriptions.push(...(await transcribeBatch(model, segments.slice(i, i + size), options)))
  }
  return transcriptions
}

/** Returns how many segments of 30 s may be encoded at once. */
function batchSize({ decoderLayers, hidden, audioPositions }: WhisperConfig): number {
  return Math.max(
    1,
    Math.floor(MAX_ENCODED_BYTES / (decoderLayers * 2 * hidden * audioPositions * 4)),
  )
}

async function transcribeBatch(
  model: WhisperModel,
  segments: readonly Float32Array[],
  options: WhisperOptions,
): Promise<WhisperTranscription[]> {
  const { network, tokenizer } = model
  const audio = await encodeSegments(model, segments, options.signal)
  const detections = await detectLanguage(network, audio)
  if (options.language === undefined) {
    for (const [i, detection] of detections.entries())
      detections[i] = await confirmLanguage(model, segments[i]!, detection, options)
  }
  const prompt = promptOf(tokenizer, options.vocabulary)
  const shared = { ...options, prompt }
  const requests = segments.map((segment, segmentIndex): WhisperRequest => {
    const language = chooseDetectedLanguage(detections[segmentIndex]!, options)
    return {
      ...boundsOf(segment, language),
      segmentIndex,
      language,
      temperature: 0,
      seed: segmentIndex,
    }
  })
  const decodings = await decodeBatch(network, audio, requests, shared)
  const transcriptions: WhisperTranscription[] = []
  for (const [i, first] of decodings.entries()) {
    const { language } = requests[i]!
    const spoken = { segment: segments[i]!, language, detection: detections[i]! }
    let decoding = first
    let decodeOptions = shared
    if (prompt.length > 0 && hasCollapsed(model, decoding, spoken)) {
      decodeOptions = { ...shared, prompt: [] }
      decoding = (await decodeBatch(network, audio, [requests[i]!], decodeOptions))[0]!
    }
    const isUncertain = meanLogProbability(decoding) < CERTAIN_LOG_PROB
    if (isUncertain && !isNoSpeech(decoding, spoken.detection)) {
      const request = { ...requests[i]!, greedy: decoding }
      decoding = (await decodeBeams(network, audio, request, decodeOptions)) ?? decoding
    }
    if (isDoubtful(tokenizer, decoding) && !isNoSpeech(decoding, spoken.detection)) {
      decoding = await decodeAgain(model, { ...spoken, decoding }, options)
    }
    const isEmpty = !options.forceNonEmpty && isNoSpeech(decoding, spoken.detection)
    transcriptions.push({ ...spoken, decoding: isEmpty ? withoutTokens(decoding) : decoding })
  }
  return transcriptions
}

/**
 * Returns the languages that speech of at most 30 s may be in, the likeliest first; `isRough` costs
 * less. Otherwise the encoding is cached, since the text of the same audio is usually requested
 * next.
 */
export async function identifyLanguage(
  model: WhisperModel,
  audio: Float32Array,
  options: { languages: readonly string[]; isRough?: boolean; signal: AbortSignal },
): Promise<{ language: string; probability: number }[]> {
  const { languages, isRough = false, signal } = options
  const silence = isRough ? ROUGH_SILENCE_FRAMES : SILENCE_FRAMES
  const encoded = await encodeSegments(model, [audio], signal, { silence, keep: !isRough })
  const [detection] = await detectLanguage(model.network, encoded)
  if (isRough) return rankLanguages(detection!, languages)
  return rankLanguages(await confirmLanguage(model, audio, detection!, options), languages)
}

/**
 * Detects the language again, with the audio padded to 30 s, if no language is likely; that is
 * mostly short speech.
 */
async function confirmLanguage(
  model: WhisperModel,
  audio: Float32Array,
  detection: Detection,
  { languages, signal }: Pick<WhisperOptions, 'languages' | 'signal'>,
): Promise<Detection> {
  const [first, second] = rankLanguages(detection, languages)
  if (!second || first!.probability >= LIKELY_LANGUAGE) return detection
  const padded = await encodeSegments(model, [audio], signal, { silence: FULL_FRAMES })
  const [again] = await detectLanguage(model.network, padded)
  return { ...detection, languages: again!.languages }
}

/**
 * Encodes segments with `silence` frames after them, at most 30 s in all. With `keep`, the
 * encodings are cached for the next call.
 */
export async function encodeSegments(
  { network, extract }: WhisperModel,
  segments: readonly Float32Array[],
  signal: AbortSignal,
  { silence = SILENCE_FRAMES, keep = false } = {},
): Promise<EncodedAudio> {
  const max = Math.min(FULL_FRAMES, network.config.audioPositions * 2)
  const features = segments.map((segment) => {
    const frames = Math.ceil(segment.length / HOP) + silence
    // An odd frame would be dropped by the encoder.
    return extract(segment, Math.min(max, frames + (frames % 2)))
  })
  signal.throwIfAborted()
  return await network.encode(features, { keep })
}

/** Returns the likeliest allowed language; a given one is used as it is. */
export function chooseDetectedLanguage(
  { languages }: Detection,
  languageOptions: Pick<WhisperOptions, 'language' | 'languages'>,
): string {
  return (
    languageOptions.language ??
    rankLanguages({ languages }, languageOptions.languages)[0]?.language ??
    'en'
  )
}

/** Returns the allowed languages, the likeliest first; their probabilities add up to 1. */
function rankLanguages(
  { languages }: Pick<Detection, 'languages'>,
  allowed: readonly string[],
): { language: string; probability: number }[] {
  const ranked = [...languages]
    .filter(([language]) => allowed.length === 0 || allowed.includes(language))
    .sort(([, a], [, b]) => b - a)
  const sum = ranked.reduce((total, [, probability]) => total + probability, 0)
  return ranked.map(([language, probability]) => ({
    language,
    probability: probability / (sum || 1),
  }))
}

/** Returns the longest text and the encoder frames of a segment. */
export function boundsOf(
  segment: Float32Array,
  language: string,
): Pick<WhisperRequest, 'frames' | 'maxTokens'> {
  const seconds = segment.length / 16_000
  const fastest = TOKENS_PER_SECOND[scriptOf(language) === 'Latin' ? 'latin' : 'other']
  return {
    frames: Math.max(1, Math.min(FULL_FRAMES / 2, Math.ceil(segment.length / HOP / 2))),
    maxTokens: Math.min(MAX_TEXT_TOKENS, Math.ceil(seconds * fastest) + SPARE_TOKENS),
  }
}

/** Returns a prompt of the vocabulary, with as many entries as fit. */
export function promptOf(tokenizer: WhisperTokenizer, vocabulary: readonly string[]): number[] {
  const prompt: number[] = []
  for (const entry of vocabulary) {
    const tokens = tokenizer.encode(`${prompt.length > 0 ? ',' : ''} ${entry}`)
    if (prompt.length + tokens.length < MAX_TEXT_TOKENS) prompt.push(...tokens)
  }
  return prompt
}

type SegmentDetection = { segment: Float32Array; language: string; detection: Detection }

/**
 * Returns true if the text is in another script or nearly empty: a prompt can make the model write
 * in the language of the prompt, or almost nothing.
 */
function hasCollapsed(
  { tokenizer }: WhisperModel,
  decoding: WhisperDecoding,
  { segment, language }: SegmentDetection,
) {
  const words = tokenizer.wordsOf(decoding.tokens, language)
  const text = tokenizer.textOf(decoding.tokens)
  const seconds = segment.length / 16_000
  return words.length < seconds * MIN_WORDS || !isWrittenIn(language, text)
}

function isDoubtful(tokenizer: WhisperTokenizer, decoding: WhisperDecoding): boolean {
  const text = Buffer.from(tokenizer.textOf(decoding.tokens))
  return (
    decoding.stopReason !== 'end' ||
    meanLogProbability(decoding) < MIN_LOG_PROBABILITY ||
    text.length > MAX_COMPRESSION * deflateSync(text).length
  )
}

function isNoSpeech(decoding: WhisperDecoding, { noSpeech }: Detection): boolean {
  return noSpeech > NO_SPEECH && meanLogProbability(decoding) < MIN_LOG_PROBABILITY
}

async function decodeAgain(
  model: WhisperModel,
  { segment, language, decoding }: SegmentDetection & { decoding: WhisperDecoding },
  options: WhisperOptions,
): Promise<WhisperDecoding> {
  const { network, tokenizer } = model
  const audio = await encodeSegments(model, [segment], options.signal, { silence: FULL_FRAMES })
  const attempts = [decoding]
  for (const [seed, temperature] of [0, ...TEMPERATURES].entries()) {
    const request = { ...boundsOf(segment, language), segmentIndex: 0, language, temperature, seed }
    const [next] = await decodeBatch(network, audio, [request], { ...options, prompt: [] })
    if (!isDoubtful(tokenizer, next!)) return next!
    attempts.push(next!)
  }
  const ended = attempts.filter(({ stopReason }) => stopReason === 'end')
  return (ended.length > 0 ? ended : attempts).reduce((best, next) => {
    return meanLogProbability(next) > meanLogProbability(best) ? next : best
  })
}

function withoutTokens(decoding: WhisperDecoding): WhisperDecoding {
  return { ...decoding, tokens: [], logProbs: decoding.logProbs.slice(0, 1), attention: [] }
}
