import { join } from 'node:path'
import { asFields, isCount } from '../../../model-files/weight-files/fields.ts'
import { WeightFileError } from '../../../model-files/weight-files/weight-file-error.ts'
import type { WhisperConfig, WhisperSizes } from '../whisper-config.ts'
import { readModelJson } from './token-vocabulary.ts'

/** The settings in the configuration files of a model's folder; undefined = not stated. */
export type HuggingFaceConfig = {
  alignmentHeads: WhisperConfig['alignmentHeads'] | undefined
  isMultilingual: boolean | undefined
  /** Token ids by the text of a language token, such as `<|de|>`. */
  languages: Record<string, number> | undefined
  suppressed: number[] | undefined
  suppressedAtBegin: number[] | undefined
}

/** The fields; CTranslate2 and Hugging Face name them differently. */
type Fields = {
  alignment_heads: unknown
  is_multilingual: unknown
  lang_to_id: unknown
  /** Hugging Face, in `generation_config.json` or in older folders in `config.json`. */
  suppress_tokens: unknown
  begin_suppress_tokens: unknown
  /** CTranslate2. */
  suppress_ids: unknown
  suppress_ids_begin: unknown
}

/**
 * Reads the configuration of a model's folder. Throws `WeightFileError` when it does not fit the
 * sizes of the model.
 */
export function readHuggingFaceConfig(folder: string, sizes: WhisperSizes): HuggingFaceConfig {
  const config = {
    ...readModelJson<Fields>(join(folder, 'config.json')),
    ...readModelJson<Fields>(join(folder, 'generation_config.json')),
  }
  const isToken = (id: unknown) => isCount(id) && id < sizes.vocabulary
  const tokens = (ids: unknown) => {
    if (ids === undefined || ids === null) return undefined
    // Fine-tuned models may have the configuration of a model with more tokens.
    if (Array.isArray(ids)) return ids.filter(isToken) as number[]
    throw new WeightFileError(`${folder} has no list of suppressed tokens in its configuration`)
  }
  const languages = Object.entries(asFields(config.lang_to_id)).filter(([, id]) => isToken(id))
  return {
    alignmentHeads: readHeads(config.alignment_heads, { folder, sizes }),
    isMultilingual:
      typeof config.is_multilingual === 'boolean' ? config.is_multilingual : undefined,
    languages: Object.fromEntries(languages) as Record<string, number>,
    suppressed: tokens(config.suppress_tokens) ?? tokens(config.suppress_ids),
    suppressedAtBegin: tokens(config.begin_suppress_tokens) ?? tokens(config.suppress_ids_begin),
  }
}

function readHeads(
  heads: unknown,
  { folder, sizes }: { folder: string; sizes: WhisperSizes },
): WhisperConfig['alignmentHeads'] | undefined {
  if (heads === undefined || heads === null) return undefined
  const isHead = (place: unknown) => {
    const [layer, head] = Array.isArray(place) ? place : []
    return isCount(layer) && layer < sizes.decoderLayers && isCount(head) && head < sizes.heads
  }
  if (Array.isArray(heads) && heads.length > 0 && heads.every(isHead)) {
    return heads as WhisperConfig['alignmentHeads']
  }
  throw new WeightFileError(
    `${folder} names a head that its model lacks: ${JSON.stringify(heads).slice(0, 100)}`,
  )
}
