import type { Static, TProperties } from 'typebox'
import type { Config } from '../../../config/config.ts'
import { Type } from '../common/type.ts'
import { OneOf } from '../common/values.ts'
import {
  type AddOnConfigs,
  addOnConfigs,
  HttpUrl,
  IGNORED,
  Ignored,
  Switch,
} from '../jobs/add-on-configs.ts'
import { CustomMetadata } from '../jobs/custom-metadata.ts'
import { OlderCallbackUrl, olderLanguageFields } from '../jobs/older-fields.ts'
import { liveModelNames } from '../models/model-names.ts'
import { messageFlags } from './message-flags.ts'

const example = {
  sample_rate: 16000,
  language_config: { languages: ['en'] },
  messages_config: { receive_partial_transcripts: true },
}

/** Defines a choice of a few numbers with a default. */
function NumberOf<const T extends readonly number[]>(choices: T, options: { default: T[number] }) {
  return Type.Unsafe<T[number]>({ type: 'integer', enum: choices, ...options })
}

/** Defines an object that is present with its defaults even when the client omits it. */
function WithDefaults<T extends TProperties>(title: string, fields: T) {
  const defaults = Object.entries(fields).flatMap(([name, field]) => {
    return 'default' in field ? [[name, field.default]] : []
  })
  return Type.Object(fields, { title, default: Object.fromEntries(defaults) })
}

/** Defines the body of `POST /v2/live` with every field of the API. */
export function liveRequest(config: Pick<Config, 'models' | 'requests'>) {
  const configs = addOnConfigs(config)
  const models = liveModelNames(config.models)
  const fields = {
    encoding: Type.Unsafe<'wav/pcm' | 'wav/alaw' | 'wav/ulaw'>({
      ...OneOf('wav/pcm', 'wav/alaw', 'wav/ulaw'),
      default: 'wav/pcm',
    }),
    bit_depth: NumberOf([8, 16, 24, 32], { default: 16 }),
    sample_rate: NumberOf([8000, 16000, 32000, 44100, 48000], { default: 16000 }),
    channels: Type.Integer({ minimum: 1, maximum: 8, default: 1 }),
    model: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: models })),
    endpointing: Type.Number({
      minimum: 0.01,
      maximum: 10,
      default: 0.05,
      description: 'Seconds of silence that end an utterance',
    }),
    maximum_duration_without_endpointing: Type.Number({
      minimum: 5,
      maximum: 60,
      default: 5,
      description: 'Seconds after which an utterance ends in any case',
    }),
    language_config: Type.Optional(configs.LanguageConfig),
    pre_processing: preProcessing(),
    realtime_processing: realtimeProcessing(configs),
    post_processing: postProcessing(configs),
    messages_config: WithDefaults('MessagesConfig', messageFlags('socket')),
    callback: Switch(),
    callback_config: Type.Optional(
      Type.Object(
        {
          // The URL is required if a callback is requested.
          url: Type.Optional(HttpUrl),
          ...messageFlags('callback'),
        },
        { title: 'LiveCallbackConfig' },
      ),
    ),
    callback_url: OlderCallbackUrl(),
    custom_metadata: Type.Optional(CustomMetadata(config.requests)),
    ...olderLanguageFields(configs),
    chapterization: Ignored(),
    words_accurate_timestamps: Ignored(),
    accurate_words_timestamps: Ignored(),
    context_prompt: Ignored(),
  }
  return Type.Object(fields, { title: 'LiveRequest', examples: [example] })
}

/** Defines the processing of the audio before recognition. */
function preProcessing() {
  return WithDefaults('PreProcessing', {
    audio_enhancer: Switch({ description: 'Removes noise before recognition' }),
    speech_threshold: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.6,
      description: 'How clear speech must be: the nearer to 1, the fewer sounds count as speech',
    }),
  })
}

/** Defines the processing of each utterance. */
function realtimeProcessing(configs: AddOnConfigs) {
  return WithDefaults('RealtimeProcessing', {
    custom_vocabulary: Type.Union([Type.Boolean(), configs.Vocabulary], { default: false }),
    custom_vocabulary_config: Type.Optional(configs.CustomVocabularyConfig),
    custom_spelling: Switch(),
    custom_spelling_config: Type.Optional(configs.CustomSpellingConfig),
    translation: Switch(),
    translation_config: Type.Optional(
      Type.Object(
        {
          ...configs.TranslationConfig.properties,
          partials: Type.Optional(
            Type.Boolean({
              description:
                'Translates partials, too; `data.is_final` of the messages tells them apart. An extension',
            }),
          ),
        },
        { title: 'LiveTranslationConfig' },
      ),
    ),
    named_entity_recognition: Switch(),
    sentiment_analysis: Switch(),
    // The field has no default, so that the parameters of sessions without it contain only the
    // fields of the API.
    diarization: Type.Optional(
      Type.Boolean({
        description: 'Names the speakers of finals, as far as known by then. An extension',
      }),
    ),
    diarization_config: Type.Optional(configs.DiarizationConfig),
    words_accurate_timestamps: Ignored(),
  })
}

/** Defines the processing of the whole transcript after the session has ended. */
function postProcessing(configs: AddOnConfigs) {
  return WithDefaults('PostProcessing', {
    summarization: Switch(),
    summarization_config: Type.Optional(configs.SummarizationConfig),
    // The field has no default, so that the parameters of sessions without it contain only the
    // fields of the API.
    audio_to_llm: Type.Optional(
      Type.Boolean({ description: 'Runs prompts about the whole session. An extension' }),
    ),
    audio_to_llm_config: Type.Optional(configs.AudioToLlmConfig),
    chapterization: Switch(IGNORED),
    chapterization_config: Ignored(),
  })
}

/** The body of a creation after validation. */
export type LiveRequest = Static<ReturnType<typeof liveRequest>>
