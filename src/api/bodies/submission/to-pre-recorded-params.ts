import type { Config } from '../../../config/config.ts'
import type { PreRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'

/**
 * Returns the parameters of a job, as `request_params` shows them: older fields in their modern
 * form, every switch, and those configurations that the client gave.
 */
export function toPreRecordedParams(
  request: PreRecordedRequest,
  { defaultLabel }: Pick<Config['models'], 'defaultLabel'>,
): Record<string, unknown> {
  return dropAbsent({
    audio_url: request.audio_url,
    model: request.model ?? defaultLabel,
    language_config: languageConfigOf(request),
    custom_vocabulary: request.custom_vocabulary !== false,
    custom_vocabulary_config: vocabularyConfigOf(request),
    custom_spelling: request.custom_spelling,
    custom_spelling_config: request.custom_spelling_config,
    punctuation_enhanced: request.punctuation_enhanced,
    diarization: request.diarization,
    diarization_config: diarizationConfigOf(request),
    translation: request.translation,
    translation_config: request.translation_config,
    subtitles: request.subtitles,
    subtitles_config: request.subtitles_config,
    sentences: request.sentences,
    summarization: request.summarization,
    summarization_config: request.summarization_config,
    named_entity_recognition: request.named_entity_recognition,
    sentiment_analysis: request.sentiment_analysis,
    audio_to_llm: request.audio_to_llm,
    audio_to_llm_config: request.audio_to_llm_config,
    pii_redaction: request.pii_redaction,
    pii_redaction_config: request.pii_redaction_config,
    callback: wantsCallback(request),
    callback_config: callbackConfigOf(request),
    // These fields extend the API, so they are included only if they are used.
    moderation: request.moderation || undefined,
    name_consistency: request.name_consistency || undefined,
    structured_data_extraction: request.structured_data_extraction || undefined,
    structured_data_extraction_config: request.structured_data_extraction_config,
    display_mode: request.display_mode || undefined,
    chapters: request.chapters || undefined,
    number_formatting: request.number_formatting || undefined,
    number_formatting_config: request.number_formatting_config,
    filler_removal: request.filler_removal || undefined,
    profanity_filter: request.profanity_filter || undefined,
    channel_mode: request.channel_mode,
  })
}

type Languages = Pick<
  PreRecordedRequest,
  | 'language_config'
  | 'language'
  | 'detect_language'
  | 'enable_code_switching'
  | 'code_switching_config'
>

/** `language_config` takes precedence over its older names, field by field. */
export function languageConfigOf(request: Languages) {
  const { language_config, language, detect_language } = request
  const switching = request.code_switching_config?.languages ?? []
  const single = language === undefined || detect_language ? [] : [language]
  const older = switching.length > 0 ? switching : single
  return {
    languages: [...new Set(language_config?.languages ?? older)],
    code_switching: language_config?.code_switching ?? request.enable_code_switching,
  }
}

/**
 * `custom_vocabulary` may be the list itself; the configuration then contains only the other
 * fields.
 */
export function vocabularyConfigOf({
  custom_vocabulary,
  custom_vocabulary_config,
}: Pick<PreRecordedRequest, 'custom_vocabulary' | 'custom_vocabulary_config'>) {
  if (!Array.isArray(custom_vocabulary)) return custom_vocabulary_config
  return { default_intensity: 0.5, ...custom_vocabulary_config, vocabulary: custom_vocabulary }
}

/** Returns the fields of the diarization configuration that are used. */
export function diarizationConfigOf({
  diarization_config,
}: Pick<PreRecordedRequest, 'diarization_config'>) {
  if (!diarization_config) return undefined
  const { enhanced: _, ...used } = diarization_config
  return used
}

/** `callback_url` is the older way to request a callback. */
export function wantsCallback({
  callback,
  callback_url,
}: Pick<PreRecordedRequest, 'callback' | 'callback_url'>): boolean {
  return callback || callback_url !== undefined
}

function callbackConfigOf({ callback_config, callback_url }: PreRecordedRequest) {
  if (callback_config || callback_url === undefined) return callback_config
  return { url: callback_url, method: 'POST' }
}

/** Returns the fields that have a value. */
export function dropAbsent(params: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined))
}
