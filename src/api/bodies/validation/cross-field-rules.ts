import type { Config } from '../../../config/config.ts'
import { MAX_ALL_PRONUNCIATIONS, MAX_ALL_VARIANTS } from '../../schemas/common/limits.ts'
import type { PreRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'
import type { LiveRequest } from '../../schemas/live/live-request.ts'
import { modelOf } from '../../schemas/models/model-names.ts'
import { languageConfigOf } from '../submission/pre-recorded-params.ts'
import type { Problem } from './validate-fields.ts'

type MetadataLimit = Pick<Config['requests'], 'maxMetadataChars'>

/**
 * Finds problems that no single field shows: a switch without its configuration, metadata that is
 * too long.
 */
export function findMissing(request: PreRecordedRequest, limit: MetadataLimit): Problem[] {
  const problems = missingConfigs(request)
  if (request.audio_to_llm && !request.audio_to_llm_config) {
    problems.push(required('audio_to_llm_config'))
  }
  if (request.callback && !request.callback_config && !request.callback_url) {
    problems.push(required('callback_config'))
  }
  return [...problems, ...tooLong(request, limit)]
}

/** Does the same for a live session, whose features are nested deeper. */
export function findMissingLive(request: LiveRequest, limit: MetadataLimit): Problem[] {
  const missing = missingConfigs(request.realtime_processing ?? {})
  const problems = missing.map(({ path, rule }): Problem => {
    return { path: ['realtime_processing', ...path], rule }
  })
  const { audio_to_llm: prompts, audio_to_llm_config: config } = request.post_processing ?? {}
  if (prompts && !config) problems.push(required('post_processing', 'audio_to_llm_config'))
  if (request.callback && !request.callback_config?.url && !request.callback_url) {
    problems.push(required('callback_config', 'url'))
  }
  return [...problems, ...tooLong(request, limit)]
}

/** Adds the missing fields, except where the field itself, or its parent, already has a problem. */
export function addMissing(problems: readonly Problem[], missing: readonly Problem[]): Problem[] {
  const noted = problems.map(({ path }) => `${path.join('.')}.`)
  const isNoted = ({ path }: Problem) => noted.some((one) => `${path.join('.')}.`.startsWith(one))
  return [...problems, ...missing.filter((problem) => !isNoted(problem))]
}

function required(...path: string[]): Problem {
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

function missingConfigs(features: Features): Problem[] {
  const problems: Problem[] = []
  const { custom_vocabulary, custom_vocabulary_config: vocabularyConfig } = features
  if (custom_vocabulary === true && !vocabularyConfig) {
    problems.push(required('custom_vocabulary_config'))
  }
  if (vocabularyConfig && !vocabularyConfig.vocabulary && !Array.isArray(custom_vocabulary)) {
    problems.push(required('custom_vocabulary_config', 'vocabulary'))
  }
  if (features.custom_spelling && !features.custom_spelling_config) {
    problems.push(required('custom_spelling_config'))
  }
  if (features.translation && !features.translation_config) {
    problems.push(required('translation_config'))
  }
  return [...problems, ...tooManyInAll(features)]
}

/** Lists of lists have a limit each, and one on their total size. */
function tooManyInAll({
  custom_vocabulary,
  custom_vocabulary_config,
  custom_spelling_config,
}: Features): Problem[] {
  const problems: Problem[] = []
  const check = (path: string[], readonly: readonly unknown[], [most, name]: [number, string]) => {
    const count = readonly.reduce<number>(
      (sum, one) => sum + (Array.isArray(one) ? one.length : 0),
      0,
    )
    if (count > most)
      problems.push({ path, rule: `must not hold more than ${most} ${name} in all` })
  }
  const pronunciationsOf = (vocabulary: unknown) => {
    // An entry with a problem is absent.
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
  return problems
}

function tooLong(
  { custom_metadata = {} }: Pick<PreRecordedRequest, 'custom_metadata'>,
  { maxMetadataChars }: MetadataLimit,
): Problem[] {
  if (JSON.stringify(custom_metadata).length <= maxMetadataChars) return []
  const rule = `must not be longer than ${maxMetadataChars} characters as JSON`
  return [{ path: ['custom_metadata'], rule }]
}

/** Default maximum duration of a caption in seconds. */
const MAX_CAPTION = 7

/** Finds fields that contradict each other (the cases of 422). */
export function findContradictions(
  request: PreRecordedRequest,
  { aliases }: Pick<Config['models'], 'aliases'>,
): Problem[] {
  const problems: Problem[] = []
  const note = (path: string[], rule: string) => void problems.push({ path, rule })
  const { languages } = languageConfigOf(request)
  if (modelOf(request.model, { aliases }) === 'stt-3' && languages.length !== 1) {
    note(['language_config', 'languages'], `must hold exactly one language for ${request.model}`)
  }
  problems.push(...contradictingSpeakers(request))
  const { minimum_duration = 0, maximum_duration = MAX_CAPTION } = request.subtitles_config ?? {}
  if (minimum_duration > maximum_duration) {
    note(['subtitles_config', 'minimum_duration'], 'must not be greater than maximum_duration')
  }
  return problems
}

/** Does the same for a live session: its number of speakers. */
export function findLiveContradictions({ realtime_processing }: LiveRequest): Problem[] {
  return contradictingSpeakers(realtime_processing).map(({ path, rule }) => {
    return { path: ['realtime_processing', ...path], rule }
  })
}

function contradictingSpeakers({
  diarization_config = {},
}: Pick<PreRecordedRequest, 'diarization_config'>): Problem[] {
  // Zero means no bound.
  const { number_of_speakers, min_speakers, max_speakers } = diarization_config
  const least = min_speakers || 1
  const most = max_speakers || Number.POSITIVE_INFINITY
  if (least > most) {
    const rule = 'must not be greater than max_speakers'
    return [{ path: ['diarization_config', 'min_speakers'], rule }]
  }
  if (number_of_speakers && (number_of_speakers < least || number_of_speakers > most)) {
    const rule = 'must not be outside min_speakers and max_speakers'
    return [{ path: ['diarization_config', 'number_of_speakers'], rule }]
  }
  return []
}
