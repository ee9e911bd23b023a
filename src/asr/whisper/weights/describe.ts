import { join } from 'node:path'
import type { WhisperDescription, WhisperTokens } from '../description.ts'
import { publishedAlignmentHeads } from './alignment-heads.ts'
import { readJson, readVocabulary } from './vocabulary.ts'
import { type WeightFile, WeightFileError } from './weights.ts'

/** What the configuration files of a folder say; CTranslate2 and Hugging Face name it differently. */
type Configuration = {
  alignment_heads?: [number, number][] | null
  is_multilingual?: boolean
  lang_to_id?: Record<string, number>
  /** Hugging Face, in `generation_config.json` or in older folders in `config.json`. */
  suppress_tokens?: number[] | null
  begin_suppress_tokens?: number[] | null
  /** CTranslate2. */
  suppress_ids?: number[]
  suppress_ids_begin?: number[]
}

/** The end token of the English-only models; the multilingual ones have one more before it. */
const ENGLISH_END = 50_256
const MAX_POSITIONS = 100_000
/** Weights are rounded in blocks of this many; it divides the width of every published model. */
const BLOCK = 32

/** A model as it will be written: its description but for the form of the weights, its tokens. */
export type DescribedModel = {
  description: Omit<WhisperDescription, 'weights'>
  vocabulary: string[]
}

/**
 * Describes the model of a folder from the sizes of its weights, its configuration and its
 * vocabulary. Throws `WeightFileError` when it is no Whisper model.
 */
export function describeModel(folder: string, weights: WeightFile): DescribedModel {
  const sizes = readSizes(weights, folder)
  const configuration = {
    ...readJson<Configuration>(join(folder, 'config.json')),
    ...readJson<Configuration>(join(folder, 'generation_config.json')),
  }
  const vocabulary = readVocabulary(folder, sizes.vocabulary)
  const tokens = findTokens(vocabulary, folder)
  const multilingual = configuration.is_multilingual ?? tokens.end !== ENGLISH_END
  const { start, translate, transcribe, startOfPrevious, noSpeech } = tokens
  const special = [start, translate, transcribe, startOfPrevious, noSpeech]
  special.push(vocabulary.indexOf('<|startoflm|>'))
  const suppressed = configuration.suppress_tokens ?? configuration.suppress_ids ?? []
  const atBegin = configuration.begin_suppress_tokens ?? configuration.suppress_ids_begin
  const space = vocabulary.indexOf('Ġ')
  const alignmentHeads =
    configuration.alignment_heads ?? publishedAlignmentHeads({ ...sizes, multilingual })
  for (const [layer, head] of alignmentHeads) {
    if (!(layer < sizes.decoderLayers && head < sizes.heads)) {
      throw new WeightFileError(`${folder} names a head that its model lacks: ${layer}, ${head}`)
    }
  }
  return {
    description: {
      version: 1,
      ...sizes,
      alignmentHeads,
      multilingual,
      languages: multilingual ? findLanguages(vocabulary, tokens, configuration.lang_to_id) : {},
      tokens,
      suppressed: [...new Set([...suppressed, ...special])]
        .filter((token) => token >= 0)
        .sort((a, b) => a - b),
      suppressedAtBegin: atBegin ?? [space, tokens.end].filter((token) => token >= 0),
    },
    vocabulary,
  }
}

type Sizes = Pick<
  WhisperDescription,
  | 'hidden'
  | 'heads'
  | 'encoderLayers'
  | 'decoderLayers'
  | 'mels'
  | 'audioPositions'
  | 'textPositions'
  | 'vocabulary'
>

function readSizes(weights: WeightFile, folder: string): Sizes {
  const need = (name: string, axis: number) => {
    const size = weights.sizes(name)?.[axis]
    if (!size || size > MAX_POSITIONS)
      throw new WeightFileError(`${folder} is no Whisper model: no ${name}`)
    return size
  }
  const count = (side: string) => {
    let layers = 0
    while (weights.sizes(`${side}/layer_${layers}/ffn/linear_0/weight`)) layers++
    return layers
  }
  const hidden = need('encoder/conv1/weight', 0)
  const heads = weights.read('encoder/num_heads')[0]!
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
  const even =
    hidden % heads === 0 && hidden % BLOCK === 0 && weights.read('decoder/num_heads')[0] === heads
  if (!even || sizes.encoderLayers === 0 || sizes.decoderLayers === 0) {
    throw new WeightFileError(`${folder} is no Whisper model of a form we know`)
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

/** Languages stand between the start and the tasks, unless the configuration says where. */
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
