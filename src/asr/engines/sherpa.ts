import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Device } from '../../config/config.ts'
import type { LocalModel } from '../../models/install/installed-models.ts'
import { mean, sum } from '../../numbers.ts'
import { padAudio } from './pad-audio.ts'
import type {
  LanguageProbability,
  RecognizeOptions,
  Recognizer,
  RecognizerCosts,
  RecognizerThresholds,
} from './recognizer.ts'
import { sherpaCapabilities } from './sherpa/capabilities.ts'
import { withConfidence } from './sherpa/confidence.ts'
import { encodeHotwords } from './sherpa/hotwords.ts'
import { readSherpaLayout, readTokenList } from './sherpa/layout.ts'
import type { SherpaText } from './sherpa/sherpa-protocol.ts'
import { type SherpaProcess, startSherpa } from './sherpa/start-sherpa.ts'
import { interpolateWordTimes, type SherpaWord, wordsFromSherpaText } from './sherpa/words.ts'

/** When results of these models are trusted; not tuned, since no weights were available. */
const sherpaThresholds: RecognizerThresholds = {
  minRetryLogProb: -0.8,
  minLogProb: -1,
  minConfidenceInNoise: 0.2,
  minPartialLogProb: -1,
  minPartialWordConfidence: 0.5,
}

/** Shorter audio is padded: some networks crash their process when there are too few frames. */
const MIN_SAMPLES = SAMPLE_RATE
/** Half a frame of the slowest model: the shift for a second recognition of the same sound. */
const DELAY = Math.round(0.03 * SAMPLE_RATE)
/** Shorter speech is not halved to identify its language. */
const HALVED_SECONDS = 2
/** The stream id of audio that is recognized as a whole and not continued. */
const NO_STREAM = -1
/** The confidence of a word when the model returns no probabilities. */
const UNKNOWN_CONFIDENCE = 0.5

/** A text with its words; `logProbability` is the mean of its tokens, or of its words. */
type DecodedText = { words: SherpaWord[]; logProbability: number; text: SherpaText }

/**
 * Loads an installed model of sherpa-onnx in a child process: this process uses another ONNX
 * Runtime and must survive a crash of sherpa-onnx. Rejects with `Error` when the package is missing
 * or the model cannot be used.
 */
export async function createSherpa(
  stored: Pick<LocalModel, 'id' | 'revision' | 'languages' | 'folder'>,
  { device = 'cpu' }: { device?: Device } = {},
): Promise<Recognizer> {
  const { id, revision, folder } = stored
  const layout = readSherpaLayout(folder)
  const { family } = layout
  const pieces = readTokenList(join(folder, layout.tokens))
  const sherpa = await startSherpa({ folder, provider: device === 'dml' ? 'directml' : device })
  const capabilities = sherpaCapabilities(family, stored.languages)
  const isStreaming = family === 'streaming-transducer'
  const isUpperCase = !pieces.some((piece) => /\p{Ll}/u.test(piece.replace(/^<.*>$/, '')))
  const model = { sherpa, isStreaming, isTimed: capabilities.wordTimes, isUpperCase }
  const languageOf = (options: RecognizeOptions, text?: SherpaText) => {
    return recognizedLanguage(options, stored.languages, text)
  }
  const hotwordsOf = ({ vocabulary }: RecognizeOptions) => {
    return capabilities.vocabulary ? encodeHotwords(vocabulary, pieces) : undefined
  }
  // Stream ids start at a random number: a draft from a process that has ended must not continue
  // the stream of another utterance.
  let streams = randomInt(2 ** 47)
  return {
    id,
    revision,
    capabilities,
    thresholds: sherpaThresholds,
    async recognize(segments, options) {
      const hotwords = hotwordsOf(options)
      const recognitions = []
      for (const audio of segments) {
        const task = { language: languageOf(options), hotwords, signal: options.signal }
        const { words, logProbability, text } = await decodeSegment(model, audio, task)
        recognitions.push({
          words: words.map(({ lastToken: _, ...word }) => word),
          language: languageOf(options, text),
          logProbability,
          complete: true,
          warnings: [],
        })
      }
      return recognitions
    },
    async recognizePartial(audio, { draft, ...options }) {
      if (isStreaming) {
        const [stream = ++streams, from = 0, ...before] = draft
        const task = { stream, from, language: languageOf(options), signal: options.signal }
        const { words, logProbability, text } = await continueStream(model, audio, task)
        const tokens = hashTokens(text)
        const agreed = countAgreed(words, tokens, before)
        const next = [stream, audio.length, ...tokens]
        return { words, agreed, language: task.language, logProbability, tokens: next }
      }
      const task = { language: languageOf(options), hotwords: undefined, signal: options.signal }
      const { words, logProbability, text } = await decodeSegment(model, audio, task)
      const tokens = hashTokens(text)
      const agreed = countAgreed(words, tokens, draft)
      return { words, agreed, language: languageOf(options, text), logProbability, tokens }
    },
    ...(capabilities.identifiesLanguages && {
      identifyLanguage: (audio, { languages, signal }) => {
        const possibleLanguages = languages.length > 0 ? languages : stored.languages
        return identify(sherpa, audio, { languages: possibleLanguages, signal })
      },
    }),
    measureCost: (seconds) => measureCost(model, seconds),
    close: () => sherpa.close(),
  }
}

/** Returns the language that the model names, if it is one of those that are possible. */
function recognizedLanguage(
  { language, languages }: RecognizeOptions,
  knownLanguages: readonly string[],
  text: SherpaText | undefined,
): string {
  const tagged = languageTag(text?.language ?? '')
  const allowed = languages.length > 0 ? languages : knownLanguages
  if (tagged !== undefined && allowed.includes(tagged)) return tagged
  return language ?? languages[0] ?? knownLanguages[0] ?? 'en'
}

type SherpaModel = {
  sherpa: SherpaProcess
  isStreaming: boolean
  isTimed: boolean
  isUpperCase: boolean
}

async function measureCost(
  { sherpa, isStreaming }: SherpaModel,
  seconds: number,
): Promise<RecognizerCosts> {
  const length = Math.max(MIN_SAMPLES, Math.round(seconds * SAMPLE_RATE))
  const samples = Float32Array.from({ length }, (_, i) => 0.1 * Math.sin(i * i))
  const { signal } = new AbortController()
  const measureOnce = () => {
    if (!isStreaming) return sherpa.run({ kind: 'recognize', samples }, signal)
    const wholeAudio = { stream: NO_STREAM, from: 0, isLast: true }
    return sherpa.run({ kind: 'continue', samples, ...wholeAudio }, signal)
  }
  await measureOnce() // The first call of a session allocates its memory.
  return { encode: (await measureOnce()).cost, perToken: 0 }
}

type SegmentOptions = { language: string; hotwords: string | undefined; signal: AbortSignal }

/**
 * Recognizes a whole segment. Where the model returns no probabilities, it decodes the segment
 * twice: see `withConfidence`.
 */
async function decodeSegment(
  { sherpa, isStreaming, isTimed, isUpperCase }: SherpaModel,
  audio: Float32Array,
  { language, hotwords, signal }: SegmentOptions,
): Promise<DecodedText> {
  const run = (samples: Float32Array) => {
    if (isStreaming)
      return sherpa.run(
        { kind: 'continue', stream: NO_STREAM, samples, from: 0, language, isLast: true },
        signal,
      )
    const listed = hotwords === undefined ? {} : { hotwords }
    return sherpa.run({ kind: 'recognize', samples, language, ...listed }, signal)
  }
  const text = await run(padAudio(audio, MIN_SAMPLES))
  const seconds = audio.length / SAMPLE_RATE
  const timedWords = isTimed
    ? wordsFromSherpaText(text, seconds)
    : interpolateWordTimes(text.text, seconds)
  const cased = isUpperCase ? timedWords.map(inLowerCase) : timedWords
  if (text.logProbs.length > 0 || cased.length === 0) {
    return { words: cased, logProbability: mean(text.logProbs), text }
  }
  const second = await run(padAudio(delayed(audio), MIN_SAMPLES))
  const words = withConfidence(cased, second.text)
  return { words, logProbability: mean(words.map((word) => Math.log(word.confidence))), text }
}

type SherpaStreamOptions = { stream: number; from: number; language: string; signal: AbortSignal }

/** Continues a stream with the samples after `from`. */
async function continueStream(
  { sherpa, isUpperCase }: SherpaModel,
  samples: Float32Array,
  { stream, from, language, signal }: SherpaStreamOptions,
): Promise<DecodedText> {
  const task = { kind: 'continue', stream, samples, from, language, isLast: false } as const
  const text = await sherpa.run(task, signal)
  const timedWords = wordsFromSherpaText(text, samples.length / SAMPLE_RATE)
  const hasProbabilities = text.logProbs.length > 0
  const words = timedWords.map((word) => {
    const shown = isUpperCase ? inLowerCase(word) : word
    return hasProbabilities ? shown : { ...shown, confidence: UNKNOWN_CONFIDENCE }
  })
  return { words, logProbability: hasProbabilities ? mean(text.logProbs) : 0, text }
}

/**
 * Returns the languages with their shares of votes: the model names one language without a
 * probability, so the whole audio and its halves vote.
 */
async function identify(
  sherpa: SherpaProcess,
  audio: Float32Array,
  { languages, signal }: { languages: readonly string[]; signal: AbortSignal },
): Promise<LanguageProbability[]> {
  const middle = Math.floor(audio.length / 2)
  const isLong = audio.length >= HALVED_SECONDS * SAMPLE_RATE
  const parts = isLong ? [audio, audio.subarray(0, middle), audio.subarray(middle)] : [audio]
  const votes = new Map(languages.map((language) => [language, 1]))
  for (const part of parts) {
    const { language } = await sherpa.run(
      { kind: 'recognize', samples: padAudio(part, MIN_SAMPLES) },
      signal,
    )
    const tagged = languageTag(language) ?? ''
    if (votes.has(tagged)) votes.set(tagged, votes.get(tagged)! + parts.length * languages.length)
  }
  const all = sum(votes.values())
  return [...votes]
    .map(([language, count]) => ({ language, probability: count / all }))
    .sort((a, b) => b.probability - a.probability)
}

/** Reads `<|en|>`; other tags, such as `<|nospeech|>`, are no codes. */
function languageTag(tag: string): string | undefined {
  const code = /^<\|([a-z]{2,3})\|>$/.exec(tag)?.[1]
  return code
}

/** Returns a hash of each token, to compare a text with the next one of the same speech. */
function hashTokens({ tokens, text }: SherpaText): number[] {
  const parts = tokens.length > 0 ? tokens : text.split(' ')
  return parts.map((part) => {
    let code = 7
    for (const letter of part) code = (Math.imul(code, 31) + letter.codePointAt(0)!) | 0
    return code
  })
}

function countAgreed(
  words: readonly SherpaWord[],
  tokens: readonly number[],
  before: readonly number[],
): number {
  const firstDifference = tokens.findIndex((token, i) => token !== before[i])
  const matching = firstDifference < 0 ? tokens.length : firstDifference
  return words.filter(({ lastToken }) => lastToken < matching).length
}

function inLowerCase(word: SherpaWord): SherpaWord {
  return { ...word, text: word.text.toLowerCase() }
}

function delayed(audio: Float32Array): Float32Array {
  const later = new Float32Array(audio.length + DELAY)
  later.set(audio, DELAY)
  return later
}
