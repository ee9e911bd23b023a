import { join } from 'node:path'
import type { RecognizerConfig } from 'sherpa-onnx-node'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import type { SherpaFamily, SherpaLayout } from './layout.ts'
import type { SherpaSetup } from './sherpa-protocol.ts'

/** Mel bands, for models whose metadata does not state them; GigaAM and Parakeet state them. */
const BANDS = 80

/** How much a listed word is preferred, in nats per token: the default of sherpa-onnx. */
const HOTWORDS_SCORE = 1.5

/** Returns the settings with which sherpa-onnx loads a model for whole segments. */
export function offlineConfig(layout: SherpaLayout, setup: SherpaSetup): RecognizerConfig {
  const { family } = layout
  const path = (name = '') => join(setup.folder, name)
  const { model, encoder, decoder, joiner } = layout.parts
  const transducer = { encoder: path(encoder), decoder: path(decoder), joiner: path(joiner) }
  const byFamily: Record<Exclude<SherpaFamily, 'streaming-transducer'>, object> = {
    'sense-voice': {
      senseVoice: { model: path(model), language: '', useInverseTextNormalization: 1 },
    },
    'nemo-ctc': { nemoCtc: { model: path(model) } },
    'zipformer-ctc': { zipformerCtc: { model: path(model) } },
    dolphin: { dolphin: { model: path(model) } },
    'fire-red': { fireRedAsr: { encoder: path(encoder), decoder: path(decoder) } },
    canary: {
      canary: {
        encoder: path(encoder),
        decoder: path(decoder),
        srcLang: '',
        tgtLang: '',
        usePnc: 1,
      },
    },
    transducer: { transducer, modelType: 'transducer' },
    'nemo-transducer': { transducer, modelType: 'nemo_transducer' },
  }
  return {
    featConfig: { sampleRate: SAMPLE_RATE, featureDim: BANDS },
    modelConfig: {
      ...byFamily[family as keyof typeof byFamily],
      ...common(layout, setup),
    },
    decodingMethod: 'greedy_search',
  }
}

/**
 * Returns the settings for a search that prefers hotwords; `bpeVocabulary` is the file with which
 * the library splits words into pieces, for models with pieces longer than a character.
 */
export function hotwordsConfig(
  config: RecognizerConfig,
  bpeVocabulary: string | undefined,
): RecognizerConfig {
  const pieceSettings = { modelingUnit: 'cjkchar+bpe', bpeVocab: bpeVocabulary }
  return {
    ...config,
    modelConfig: { ...config.modelConfig, ...(bpeVocabulary !== undefined && pieceSettings) },
    decodingMethod: 'modified_beam_search',
    hotwordsScore: HOTWORDS_SCORE,
  }
}

/** Returns the settings with which sherpa-onnx loads a model for streams. */
export function onlineConfig(layout: SherpaLayout, setup: SherpaSetup): RecognizerConfig {
  const { encoder, decoder, joiner } = layout.parts
  const path = (name = '') => join(setup.folder, name)
  return {
    featConfig: { sampleRate: SAMPLE_RATE, featureDim: BANDS },
    modelConfig: {
      transducer: { encoder: path(encoder), decoder: path(decoder), joiner: path(joiner) },
      ...common(layout, setup),
    },
    decodingMethod: 'greedy_search',
  }
}

function common({ tokens }: SherpaLayout, { folder, provider }: SherpaSetup) {
  return { tokens: join(folder, tokens), numThreads: 1, provider, debug: 0 }
}
