import type { Static } from 'typebox'
import type { Config } from '../../../config/config.ts'
import { Type } from '../common/type.ts'
import { modelNames } from '../models/model-names.ts'
import { addOnConfigs, HttpUrl, Ignored, Switch } from './add-on-configs.ts'
import { CustomMetadata } from './custom-metadata.ts'
import { OlderCallbackUrl, olderLanguageFields } from './older-fields.ts'

const example = {
  audio_url: 'https://example.com/talks/monday.mp3',
  language_config: { languages: ['en'] },
  subtitles: true,
  subtitles_config: { formats: ['srt'] },
  custom_metadata: { team: 'red' },
}

const ChannelMode = Type.Unsafe<'auto' | 'mix' | 'separate'>({
  type: 'string',
  enum: ['auto', 'mix', 'separate'],
  description:
    '`mix` recognizes the best mix of all channels, `separate` each channel as a party of its own; `auto`, the default, decides by whether channels hold the same speech. An extension',
})

/** Defines the body of `POST /v2/pre-recorded` with every field of the API. */
export function preRecordedRequest(config: Pick<Config, 'models' | 'requests'>) {
  const configs = addOnConfigs(config)
  const fields = {
    audio_url: Type.Unsafe<string>({
      ...HttpUrl,
      description: 'The `audio_url` of an upload, or any address of a recording',
    }),
    model: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: modelNames(config.models) })),
    language_config: Type.Optional(configs.LanguageConfig),
    custom_vocabulary: Type.Union([Type.Boolean(), configs.Vocabulary], { default: false }),
    custom_vocabulary_config: Type.Optional(configs.CustomVocabularyConfig),
    custom_spelling: Switch(),
    custom_spelling_config: Type.Optional(configs.CustomSpellingConfig),
    punctuation_enhanced: Switch(),
    diarization: Switch(),
    diarization_config: Type.Optional(configs.DiarizationConfig),
    translation: Switch(),
    translation_config: Type.Optional(configs.TranslationConfig),
    subtitles: Switch(),
    subtitles_config: Type.Optional(configs.SubtitlesConfig),
    sentences: Switch(),
    summarization: Switch(),
    summarization_config: Type.Optional(configs.SummarizationConfig),
    named_entity_recognition: Switch(),
    sentiment_analysis: Switch(),
    audio_to_llm: Switch(),
    audio_to_llm_config: Type.Optional(configs.AudioToLlmConfig),
    pii_redaction: Switch(),
    pii_redaction_config: Type.Optional(configs.PiiRedactionConfig),
    callback: Switch(),
    callback_config: Type.Optional(configs.CallbackConfig),
    callback_url: OlderCallbackUrl(),
    custom_metadata: Type.Optional(CustomMetadata(config.requests)),
    moderation: Switch(),
    name_consistency: Switch(),
    structured_data_extraction: Switch(),
    structured_data_extraction_config: Type.Optional(configs.ExtractionConfig),
    display_mode: Switch(),
    chapters: Switch({ description: 'Divides the recording into parts by topic. An extension' }),
    number_formatting: Switch({
      description: 'Writes English numbers in one style: digits (default) or words. An extension',
    }),
    number_formatting_config: Type.Optional(configs.NumberFormattingConfig),
    filler_removal: Switch({
      description: 'Removes English filled pauses: um, uh. An extension',
    }),
    profanity_filter: Switch({
      description: 'Masks English swear words: `d***`. An extension',
    }),
    channel_mode: Type.Optional(ChannelMode),
    ...olderLanguageFields(configs),
    chapterization: Ignored(),
    chapterization_config: Ignored(),
    words_accurate_timestamps: Ignored(),
    accurate_words_timestamps: Ignored(),
    diarization_enhanced: Ignored(),
    context_prompt: Ignored(),
    audio_enhancer: Ignored(),
  }
  return Type.Object(fields, { title: 'PreRecordedRequest', examples: [example] })
}

/** The body of a creation after validation. */
export type PreRecordedRequest = Static<ReturnType<typeof preRecordedRequest>>
