import type { TSchema } from 'typebox'
import { readConfig } from '../../../config/config.ts'
import { Type } from '../common/type.ts'
import { Language } from '../common/values.ts'
import { liveRequest } from '../live/live-request.ts'
import { addOnConfigs, Switch } from './add-on-configs.ts'
import { preRecordedRequest } from './pre-recorded-request.ts'

/** The URL as the client sent it, which need not be a valid URI. */
const Address = Type.String()

/** Keywords that depend on settings, or on the version that accepted the request. */
const settingKeywords = new Set([
  ...['default', 'title', 'maxItems', 'x-setting', 'maxLength', 'maxProperties', 'propertyNames'],
])

// The choice of settings does not matter, because `echoSchema` removes everything that depends on
// them.
const settings = readConfig({})
const configs = addOnConfigs(settings)
const request = preRecordedRequest(settings).properties

const LanguageConfig = Type.Object({
  languages: Type.Array(configs.Language),
  code_switching: Type.Boolean(),
})
const model = Type.String({ description: 'The name that the client sent' })

/**
 * The `request_params` of a pre-recorded job: every switch, and the configurations that the client
 * sent.
 */
export const PreRecordedParams = echoSchema(
  Type.Object(
    {
      audio_url: Address,
      model,
      language_config: LanguageConfig,
      custom_vocabulary: Switch(),
      custom_vocabulary_config: request.custom_vocabulary_config,
      custom_spelling: request.custom_spelling,
      custom_spelling_config: request.custom_spelling_config,
      punctuation_enhanced: request.punctuation_enhanced,
      diarization: request.diarization,
      diarization_config: request.diarization_config,
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
      callback: request.callback,
      callback_config: request.callback_config,
      moderation: Type.Optional(request.moderation),
      name_consistency: Type.Optional(request.name_consistency),
      structured_data_extraction: Type.Optional(request.structured_data_extraction),
      structured_data_extraction_config: request.structured_data_extraction_config,
      display_mode: Type.Optional(request.display_mode),
      chapters: Type.Optional(request.chapters),
      number_formatting: Type.Optional(request.number_formatting),
      number_formatting_config: request.number_formatting_config,
      filler_removal: Type.Optional(request.filler_removal),
      profanity_filter: Type.Optional(request.profanity_filter),
      channel_mode: request.channel_mode,
    },
    { title: 'PreRecordedParams' },
  ),
)

const live = liveRequest(settings).properties

/** The `request_params` of a live session: every field of the API. */
export const LiveParams = echoSchema(
  Type.Object(
    {
      encoding: live.encoding,
      bit_depth: live.bit_depth,
      sample_rate: live.sample_rate,
      channels: live.channels,
      model,
      endpointing: live.endpointing,
      maximum_duration_without_endpointing: live.maximum_duration_without_endpointing,
      language_config: LanguageConfig,
      pre_processing: live.pre_processing,
      realtime_processing: Type.Object({
        ...live.realtime_processing.properties,
        custom_vocabulary: Switch(),
      }),
      post_processing: live.post_processing,
      messages_config: live.messages_config,
      callback: live.callback,
      callback_config: live.callback_config,
    },
    { title: 'LiveParams' },
  ),
)

/**
 * Returns the schema of an echoed request: fields with a default are always present, and ignored
 * fields never. It states nothing that depends on settings, because a job may be older than the
 * settings.
 */
function echoSchema<T extends TSchema>(schema: T): T {
  return { ...(echoValue(schema) as T), title: (schema as { title?: string }).title }
}

function echoValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(echoValue)
  if (typeof value !== 'object' || value === null) return value
  const keywords = Object.entries(value).filter(([key]) => !settingKeywords.has(key))
  const kept = Object.fromEntries(keywords)
  if (kept.format === 'language-code') return Language
  const entries = Object.entries(kept).filter(([, field]) => !isDeprecated(field))
  return Object.fromEntries(entries.map(([key, field]) => [key, echoValue(field)]))
}

function isDeprecated(value: unknown): boolean {
  return (value as { deprecated?: boolean } | null)?.deprecated === true
}
