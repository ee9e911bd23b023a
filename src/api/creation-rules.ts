import type { Config } from '../config.ts'
import { languageConfigOf } from './request-params.ts'
import { modelOf } from './schemas/model-names.ts'
import type { PreRecordedRequest } from './schemas/pre-recorded-request.ts'
import type { Problem } from './validation.ts'

/** What is wrong although each field alone is right: a switch without its configuration, metadata too long. */
export function findMissing(
  request: PreRecordedRequest,
  { maxMetadataChars }: Pick<Config['requests'], 'maxMetadataChars'>,
): Problem[] {
  const problems: Problem[] = []
  const require = (path: string[]) => void problems.push({ path, rule: 'is required' })
  const { custom_vocabulary, custom_vocabulary_config: vocabularyConfig } = request
  if (custom_vocabulary === true && !vocabularyConfig) require(['custom_vocabulary_config'])
  if (vocabularyConfig && !vocabularyConfig.vocabulary && !Array.isArray(custom_vocabulary)) {
    require(['custom_vocabulary_config', 'vocabulary'])
  }
  if (request.custom_spelling && !request.custom_spelling_config) {
    require(['custom_spelling_config'])
  }
  if (request.translation && !request.translation_config) require(['translation_config'])
  if (request.audio_to_llm && !request.audio_to_llm_config) require(['audio_to_llm_config'])
  if (request.callback && !request.callback_config && !request.callback_url) {
    require(['callback_config'])
  }
  const length = JSON.stringify(request.custom_metadata ?? {}).length
  if (length > maxMetadataChars) {
    const rule = `must not be longer than ${maxMetadataChars} characters as JSON`
    problems.push({ path: ['custom_metadata'], rule })
  }
  return problems
}

/** Fields that contradict each other (the 422 cases of contract 2.3.1). */
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
  // Zero means no bound.
  const { number_of_speakers, min_speakers, max_speakers } = request.diarization_config ?? {}
  const least = min_speakers || 1
  const most = max_speakers || Number.POSITIVE_INFINITY
  if (least > most) {
    note(['diarization_config', 'min_speakers'], 'must not be greater than max_speakers')
  } else if (number_of_speakers && (number_of_speakers < least || number_of_speakers > most)) {
    const rule = 'must not be outside min_speakers and max_speakers'
    note(['diarization_config', 'number_of_speakers'], rule)
  }
  const { minimum_duration = 0, maximum_duration } = request.subtitles_config ?? {}
  if (maximum_duration !== undefined && minimum_duration > maximum_duration) {
    note(['subtitles_config', 'minimum_duration'], 'must not be greater than maximum_duration')
  }
  return problems
}
