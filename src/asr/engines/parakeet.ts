import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Device } from '../../config/config.ts'
import type { LocalModel } from '../../models/install/installed-models.ts'
import { mean } from '../../numbers.ts'
import { cpuSeconds } from '../../workers/cpu-time.ts'
import { memoizeBias } from '../recognition/decoding/vocabulary-bias.ts'
import { padAudio } from './pad-audio.ts'
import { describeParakeet, parakeetThresholds } from './parakeet/capabilities.ts'
import { decodeSegments } from './parakeet/decode.ts'
import { createFeatureExtractor } from './parakeet/features.ts'
import { loadParakeet, type ParakeetNetwork } from './parakeet/network.ts'
import { wordsFromTokens } from './parakeet/words.ts'
import type { RecognizeOptions, Recognizer, RecognizerCosts } from './recognizer.ts'

/** Shorter audio is padded: the model was trained with longer audio. */
const MIN_SAMPLES = SAMPLE_RATE
/**
 * Bonus in nats for a vocabulary word. Not tuned; small, because higher values hurt accuracy in
 * published tests.
 */
const BOOST = 1.5
/** Decoder steps per token of the text, including the steps that write no token. */
const STEPS_PER_TOKEN = 1.5
const MEASURED_STEPS = 6

/**
 * Loads an installed Parakeet TDT model (v2, v3 or Ultra). It has no language option: it writes the
 * language that is spoken. Throws `Error` when the folder does not hold such a model.
 */
export async function createParakeet(
  stored: Pick<LocalModel, 'id' | 'revision' | 'languages' | 'folder'>,
  options: { device?: Device } = {},
): Promise<Recognizer> {
  const network = await loadParakeet(stored.folder, options)
  const extract = createFeatureExtractor(network.mels)
  const { pieces } = network
  const biasTo = memoizeBias(pieces, BOOST)
  const decode = async (segments: readonly Float32Array[], options: RecognizeOptions) => {
    const encoded = []
    for (const audio of segments) {
      options.signal.throwIfAborted()
      encoded.push(await network.encode(extract(padAudio(audio, MIN_SAMPLES))))
    }
    const { signal, vocabulary } = options
    return decodeSegments(network, encoded, { bias: biasTo(vocabulary), signal })
  }
  const languageOf = ({ language, languages }: RecognizeOptions) => {
    return language ?? languages[0] ?? stored.languages[0] ?? 'en'
  }
  return {
    ...describeParakeet(stored),
    thresholds: parakeetThresholds,
    async recognize(segments, options) {
      const decoded = await decode(segments, options)
      return decoded.map((tokens, i) => {
        const wordsOfTokens = wordsFromTokens(tokens, pieces, segments[i]!.length / SAMPLE_RATE)
        return {
          words: wordsOfTokens.map(({ lastToken: _, ...word }) => word),
          language: languageOf(options),
          logProbability: mean(tokens.map(({ logProb }) => logProb)),
          complete: true,
          warnings: [],
        }
      })
    },
    async recognizePartial(audio, { draft, ...options }) {
      const [tokens = []] = await decode([audio], options)
      const firstDifference = tokens.findIndex(({ token }, i) => token !== draft[i])
      const matching = firstDifference < 0 ? tokens.length : firstDifference
      const wordsOfTokens = wordsFromTokens(tokens, pieces, audio.length / SAMPLE_RATE)
      return {
        words: wordsOfTokens.map(({ lastToken: _, ...word }) => word),
        agreed: wordsOfTokens.filter(({ lastToken }) => lastToken < matching).length,
        language: languageOf(options),
        logProbability: mean(tokens.map(({ logProb }) => logProb)),
        tokens: tokens.map(({ token }) => token),
      }
    },
    measureCost: (seconds) => measureCost(network, extract, seconds),
    close: () => network.close(),
  }
}

async function measureCost(
  network: ParakeetNetwork,
  extract: ReturnType<typeof createFeatureExtractor>,
  seconds: number,
): Promise<RecognizerCosts> {
  const samples = Math.max(MIN_SAMPLES, Math.round(seconds * SAMPLE_RATE))
  const audio = Float32Array.from({ length: samples }, (_, i) => 0.1 * Math.sin(i * i))
  const { blank, initialState } = network
  const measureOnce = async () => {
    const from = cpuSeconds()
    const { data, size } = await network.encode(extract(audio))
    const encode = cpuSeconds() - from
    const input = { frame: data.subarray(0, size), token: blank, state: initialState }
    for (let i = 0; i < MEASURED_STEPS; i++) await network.step([input])
    const perToken = ((cpuSeconds() - from - encode) / MEASURED_STEPS) * STEPS_PER_TOKEN
    return { encode, perToken }
  }
  await measureOnce() // The first call of a session allocates its memory.
  return measureOnce()
}
