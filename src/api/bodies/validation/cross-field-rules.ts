import type { Config } from '../../../config/config.ts'
import { MAX_ALL_PRONUNCIATIONS, MAX_ALL_VARIANTS } from '../../schemas/common/limits.ts'
import type { PreRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'
import type { LiveRequest } from '../../schemas/live/live-request.ts'
import { modelOf } from '../../schemas/models/model-names.ts'
import { languageConfigOf } from '../submission/to-pre-recorded-params.ts'
import type { FieldError } from './validate-fields.ts'

type MetadataLimit = Pick<Config['requests'], 'maxMetadataChars'>

/**
 * Finds errors that involve several fields: a missing configuration of an enabled feature, and
 * metadata that is too long.
 */
export function findMissing(request: PreRecordedRequest, limit: MetadataLimit): FieldError[] {
  const errors = findMissingConfigs(request)
  if (request.audio_to_llm && !request.audio_to_llm_config) {
    errors.push(missingField('audio_to_llm_config'))
  }
  if (request.callback && !request.callback_config && !request.callback_url) {
    errors.push(missingField('callback_config'))
  }
  return [...errors, ...findLongMetadata(request, limit)]
}

/** Finds the same errors in the request of a live session, whose fields are nested deeper. */
export function findMissingLive(request: LiveRequest, limit: MetadataLimit): FieldError[] {
  const missing = findMissingConfigs(request.realtime_processing ?? {})
  const errors = missing.map(({ path, rule }): FieldError => {
    return { path: ['realtime_processing', ...path], rule }
  })
  const { audio_to_llm: prompts, audio_to_llm_config: config } = request.post_processing ?? {}
  if (prompts && !config) errors.push(missingField('post_processing', 'audio_to_llm_config'))
  if (request.callback && !request.callback_config?.url && !request.callback_url) {
    errors.push(missingField('callback_config', 'url'))
  }
  return [...errors, ...findLongMetadata(request, limit)]
}

/** Adds the missing fields, unless the field or its parent already has an error. */
export function addMissing(
  errors: readonly FieldError[],
  missing: readonly FieldError[],
): FieldError[] {
  const errorPaths = errors.map(({ path }) => `${path.join('.')}.`)
  const hasError = ({ path }: FieldError) =>
    errorPaths.some((errorPath) => `${path.join('.')}.`.startsWith(errorPath))
  return [...errors, ...missing.filter((error) => !hasError(error))]
}

function missingField(...path: string[]): FieldError {
  return { path, rule: 'is required' }
}

type Features = Partial<
  Pick<
    PreRecordedRequest,
    | 'custom_vocabulary'
    | 'custom_vocabulary_config'
    | 'custom_spelling'
    | 'custom_spelling_config'
    | 'translation'
    | 'translation_config'
  >
>

function findMissingConfigs(features: Features): FieldError[] {
  const errors: FieldError[] = []
  const { custom_vocabulary, custom_vocabulary_config: vocabularyConfig } = features
  if (custom_vocabulary === true && !vocabularyConfig) {
    errors.push(missingField('custom_vocabulary_config'))
  }
  if (vocabularyConfig && !vocabularyConfig.vocabulary && !Array.isArray(custom_vocabulary)) {
    errors.push(missingField('custom_vocabulary_config', 'vocabulary'))
  }
  if (features.custom_spelling && !features.custom_spelling_config) {
    errors.push(missingField('custom_spelling_config'))
  }
  if (features.translation && !features.translation_config) {
    errors.push(missingField('translation_config'))
  }
  return [...errors, ...findLongListTotals(features)]
}

/** Finds lists of lists that are too long in total; each list has its own limit as well. */
function findLongListTotals({
  custom_vocabulary,
  custom_vocabulary_config,
  custom_spelling_config,
}: Features): FieldError[] {
  const errors: FieldError[] = []
  const check = (path: string[], lists: readonly unknown[], [max, name]: [number, string]) => {
    const count = lists.reduce<number>(
      (sum, list) => sum + (Array.isArray(list) ? list.length : 0),
      0,
    )
    if (count > max) errors.push({ path, rule: `must not hold more than ${max} ${name} in all` })
  }
  const pronunciationsOf = (vocabulary: unknown) => {
    // An entry with an error is absent.
    if (!Array.isArray(vocabulary)) return []
    return vocabulary.map((entry?: { pronunciations?: unknown }) => entry?.pronunciations)
  }
  const pronunciations: [number, string] = [MAX_ALL_PRONUNCIATIONS, 'pronunciations']
  check(['custom_vocabulary'], pronunciationsOf(custom_vocabulary), pronunciations)
  const { vocabulary } = custom_vocabulary_config ?? {}
  check(['custom_vocabulary_config', 'vocabulary'], pronunciationsOf(vocabulary), pronunciations)
  const { spelling_dictionary = {} } = custom_spelling_config ?? {}
  const variants = Object.values(spelling_dictionary)
  check(['custom_spelling_config', 'spelling_dictionary'], variants, [MAX_ALL_VARIANTS, 'variants'])
  return errors
}

function findLongMetadata(
  { custom_metadata = {} }: Pick<PreRecordedRequest, 'custom_metadata'>,
  { maxMetadataChars }: MetadataLimit,
): FieldError[] {
  if (JSON.stringify(custom_metadata).length <= maxMetadataChars) return []
  const limit = `${maxMetadataChars} characters as JSON (STENO_MAX_METADATA_CHARS)`
  const rule = `must not be longer than ${limit}`
  return [{ path: ['custom_metadata'], rule }]
}

/** The default maximum duration of a caption, in seconds. */
const DEFAULT_MAX_CAPTION_SECONDS = 7

/** Finds fields that contradict each other, which the API reports with status 422. */
export function findContradictions(
  request: PreRecordedRequest,
  { aliases }: Pick<Config['models'], 'aliases'>,
): FieldError[] {
  const errors: FieldError[] = []
  const addError = (path: string[], rule: string) => void errors.push({ path, rule })
  const { languages } = languageConfigOf(request)
  if (modelOf(request.model, { aliases }) === 'stt-3' && languages.length !== 1) {
    addError(
      ['language_config', 'languages'],
      `must hold exactly one language for ${request.model}`,
    )
  }
  errors.push(...findSpeakerContradictions(request))
  const { minimum_duration = 0, maximum_duration = DEFAULT_MAX_CAPTION_SECONDS } =
    request.subtitles_config ?? {}
  if (minimum_duration > maximum_duration) {
    addError(['subtitles_config', 'minimum_duration'], 'must not be greater than maximum_duration')
  }
  return errors
}

/** Finds contradictions in the number of speakers of a live session. */
export function findLiveContradictions({ realtime_processing }: LiveRequest): FieldError[] {
  return findSpeakerContradictions(realtime_processing).map(({ path, rule }) => {
    return { path: ['realtime_processing', ...path], rule }
  })
}

function findSpeakerContradictions({
  diarization_config = {},
}: Pick<PreRecordedRequest, 'diarization_config'>): FieldError[] {
  // Zero means no limit.
  const { number_of_speakers, min_speakers, max_speakers } = diarization_config
  const min = min_speakers || 1
  const max = max_speakers || Number.POSITIVE_INFINITY
  if (min > max) {
    const rule = 'must not be greater than max_speakers'
    return [{ path: ['diarization_config', 'min_speakers'], rule }]
  }
  if (number_of_speakers && (number_of_speakers < min || number_of_speakers > max)) {
    const rule = 'must not be outside min_speakers and max_speakers'
    return [{ path: ['diarization_config', 'number_of_speakers'], rule }]
  }
  return []
}
