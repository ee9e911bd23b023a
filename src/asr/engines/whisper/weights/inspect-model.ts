import { WeightFileError } from '../../../model-files/weight-files/weight-file-error.ts'
import { BLOCK_WEIGHTS } from '../graphs/layers.ts'
import type { WhisperConfig, WhisperSizes, WhisperTokens } from '../whisper-config.ts'
import { publishedAlignmentHeads } from './alignment-heads.ts'
import { checkShapes } from './check-shapes.ts'
import { readHuggingFaceConfig } from './hugging-face-config.ts'
import { readVocabulary } from './token-vocabulary.ts'
import type { WeightFile } from './weights.ts'

/** The end token of the English-only models; the multilingual ones have one more before it. */
const ENGLISH_END = 50_256
const MAX_POSITIONS = 100_000

/** The config of a model whose weights are not converted yet; `vocabulary` holds its tokens. */
export type InspectedModel = {
  config: Omit<WhisperConfig, 'weights'>
  vocabulary: string[]
}

/**
 * Derives the config of a model from the sizes of its weights, its configuration and its
 * vocabulary. Throws `WeightFileError` when it is not a Whisper model.
 */
export function inspectWhisperModel(folder: string, weights: WeightFile): InspectedModel {
  const sizes = readSizes(weights, folder)
  const configuration = readHuggingFaceConfig(folder, sizes)
  checkShapes(weights, sizes)
  const vocabulary = readVocabulary(folder, sizes.vocabulary)
  const tokens = findTokens(vocabulary, folder)
  const multilingual = configuration.isMultilingual ?? tokens.end !== ENGLISH_END
  const { start, translate, transcribe, startOfPrevious, noSpeech } = tokens
  const special = [start, translate, transcribe, startOfPrevious, noSpeech]
  special.push(vocabulary.indexOf('<|startoflm|>'))
  const { suppressed = [], suppressedAtBegin: atBegin, languages } = configuration
  const space = vocabulary.indexOf('Ġ')
  const alignmentHeads =
    configuration.alignmentHeads ?? publishedAlignmentHeads({ ...sizes, multilingual })
  return {
    config: {
      version: 1,
      ...sizes,
      alignmentHeads,
      multilingual,
      languages: multilingual ? findLanguages(vocabulary, tokens, languages) : {},
      tokens,
      suppressed: [...new Set([...suppressed, ...special])]
        .filter((token) => token >= 0)
        .sort((a, b) => a - b),
      suppressedAtBegin: atBegin ?? [space, tokens.end].filter((token) => token >= 0),
    },
    vocabulary,
  }
}

function readSizes(weights: WeightFile, folder: string): WhisperSizes {
  const need = (name: string, axis: number) => {
    const size = weights.sizes(name)?.[axis]
    if (!size || size > MAX_POSITIONS)
      throw new WeightFileError(`${folder} is not a Whisper model: no ${name}`)
    return size
  }
  const count = (side: string) => {
    let layers = 0
    while (weights.sizes(`${side}/layer_${layers}/ffn/linear_0/weight`)) layers++
    return layers
  }
  const hidden = need('encoder/conv1/weight', 0)
  const heads = Math.trunc(weights.read('encoder/num_heads')[0] ?? 0)
  const sizes = {
    hidden,
    heads,
    encoderLayers: count('encoder'),
    decoderLayers: count('decoder'),
    mels: need('encoder/conv1/weight', 1),
    audioPositions: need('encoder/position_encodings/encodings', 0),
    textPositions: need('decoder/position_encodings/encodings', 0),
    vocabulary: need('decoder/embeddings/weight', 0),
  }
  const isSupported =
    heads > 0 &&
    hidden % heads === 0 &&
    hidden % BLOCK_WEIGHTS === 0 &&
    weights.read('decoder/num_heads')[0] === heads
  if (!isSupported || sizes.encoderLayers === 0 || sizes.decoderLayers === 0) {
    throw new WeightFileError(`${folder} is not a Whisper model in a supported form`)
  }
  return sizes
}

function findTokens(vocabulary: readonly string[], folder: string): WhisperTokens {
  const need = (...names: string[]) => {
    const token = vocabulary.findIndex((text) => names.includes(text))
    if (token < 0)
      throw new WeightFileError(`${folder} has no token ${names[0]}: is it a Whisper model?`)
    return token
  }
  const noTimestamps = need('<|notimestamps|>')
  return {
    end: need('<|endoftext|>'),
    start: need('<|startoftranscript|>'),
    translate: need('<|translate|>'),
    transcribe: need('<|transcribe|>'),
    startOfPrevious: need('<|startofprev|>'),
    noSpeech: need('<|nospeech|>', '<|nocaptions|>'),
    noTimestamps,
    firstTimestamp: noTimestamps + 1,
  }
}

/**
 * Returns the language tokens: those between the start and the task tokens, and those that the
 * configuration names.
 */
function findLanguages(
  vocabulary: readonly string[],
  { start, translate }: WhisperTokens,
  configured: Record<string, number> | undefined,
): Record<string, number> {
  const codeOf = (text: string) => /^<\|([a-z]{2,3})\|>$/.exec(text)?.[1]
  const placed = vocabulary.flatMap((text, token) => {
    const code = token > start && token < translate ? codeOf(text) : undefined
    return code ? [[code, token] as const] : []
  })
  const named = Object.entries(configured ?? {}).flatMap(([text, token]) => {
    const code = codeOf(text)
    return code ? [[code, token] as const] : []
  })
  return Object.fromEntries([...placed, ...named])
}
