import Type, { type TSchema } from 'typebox'
import { readConfig } from '../../config.ts'
import { addOnConfigs, Switch } from './add-on-configs.ts'
import { preRecordedRequest } from './pre-recorded-request.ts'
import { Language, OneOf } from './values.ts'

/** As the client gave it, which need not be as a URI is written. */
const Address = Type.String()

// Any settings do: what depends on them is left out again.
const settings = readConfig({})
const configs = addOnConfigs(settings)
const request = preRecordedRequest(settings).properties

const LanguageConfig = Type.Object({
  languages: Type.Array(configs.Language),
  code_switching: Type.Boolean(),
})
const model = Type.String({ description: 'As the client named it' })

/** `request_params` of a pre-recorded job: every switch, and the configurations that were given. */
export const PreRecordedParams = echoed(
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
    },
    { title: 'PreRecordedParams' },
  ),
)

const flags = Object.fromEntries(
  ['partial_transcripts', 'final_transcripts', 'speech_events', 'pre_processing_events']
    .concat('realtime_processing_events', 'post_processing_events', 'acknowledgments')
    .concat('errors', 'lifecycle_events')
    .map((name) => [`receive_${name}`, Type.Boolean()]),
)

/** `request_params` of a live session: every field of contract 5.1. */
export const LiveParams = echoed(
  Type.Object(
    {
      encoding: OneOf('wav/pcm', 'wav/alaw', 'wav/ulaw'),
      bit_depth: Type.Unsafe<number>({ type: 'integer', enum: [8, 16, 24, 32] }),
      sample_rate: Type.Unsafe<number>({
        type: 'integer',
        enum: [8000, 16000, 32000, 44100, 48000],
      }),
      channels: Type.Integer({ minimum: 1, maximum: 8 }),
      model,
      endpointing: Type.Number({ minimum: 0.01, maximum: 10 }),
      maximum_duration_without_endpointing: Type.Number({ minimum: 5, maximum: 60 }),
      language_config: LanguageConfig,
      pre_processing: Type.Object({
        audio_enhancer: Type.Boolean(),
        speech_threshold: Type.Number({ minimum: 0, maximum: 1 }),
      }),
      realtime_processing: Type.Object({
        custom_vocabulary: Type.Boolean(),
        custom_vocabulary_config: Type.Optional(configs.CustomVocabularyConfig),
        custom_spelling: Type.Boolean(),
        custom_spelling_config: Type.Optional(configs.CustomSpellingConfig),
        translation: Type.Boolean(),
        translation_config: Type.Optional(configs.TranslationConfig),
        named_entity_recognition: Type.Boolean(),
        sentiment_analysis: Type.Boolean(),
      }),
      post_processing: Type.Object({
        summarization: Type.Boolean(),
        summarization_config: Type.Optional(configs.SummarizationConfig),
        chapterization: Type.Boolean(),
      }),
      messages_config: Type.Object(flags),
      callback: Type.Boolean(),
      callback_config: Type.Optional(Type.Object({ url: Address, ...flags })),
    },
    { title: 'LiveParams' },
  ),
)

/**
 * The form in which a request is shown again: all that has a default is there, nothing that is ignored
 * is, and what depends on settings is not promised, since a job may be older than the settings.
 */
function echoed<T extends TSchema>(schema: T): T {
  return { ...(echo(schema) as T), title: (schema as { title?: string }).title }
}

function echo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(echo)
  if (typeof value !== 'object' || value === null) return value
  const { default: _, maxItems: __, title: ___, ...kept } = value as Record<string, unknown>
  if (kept.format === 'language-code') return Language
  const entries = Object.entries(kept).filter(([, own]) => !isDeprecated(own))
  return Object.fromEntries(entries.map(([key, own]) => [key, echo(own)]))
}

function isDeprecated(value: unknown): boolean {
  return (value as { deprecated?: boolean } | null)?.deprecated === true
}
