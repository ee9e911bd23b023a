import type { TSchema } from 'typebox'
import type { Config } from '../../../config/config.ts'
import {
  MAX_CLASSES,
  MAX_ENTITY_TYPES,
  MAX_FORMATS,
  MAX_LANGUAGES,
  MAX_NAME_CHARS,
  MAX_PROMPT_CHARS,
  MAX_PROMPT_PARTS,
  MAX_PRONUNCIATIONS,
  MAX_SPELLINGS,
  MAX_TERM_CHARS,
  MAX_URL_CHARS,
  MAX_VARIANTS,
} from '../common/limits.ts'
import { Type } from '../common/type.ts'
import { LanguageCode, transcriptionCodes, translationCodes } from '../models/language-codes.ts'
import { piiTypes } from './pii-types.ts'

/** Defines a switch that is off by default. */
export function Switch(options: { deprecated?: boolean; description?: string } = {}) {
  return Type.Boolean({ default: false, ...options })
}

type Named = readonly [string, ...string[]]

/** Defines a choice of a few names; the first is the default. */
function Choice<T extends Named>(...names: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: names, default: names[0] })
}

/** The URL of a recording, or of a callback. */
export const HttpUrl = Type.String({ format: 'http-url', maxLength: MAX_URL_CHARS })

/** A word or a short phrase of a vocabulary. */
const Term = Type.String({ minLength: 1, maxLength: MAX_TERM_CHARS })
/** A term that may be empty. */
const AnyTerm = Type.String({ maxLength: MAX_TERM_CHARS })

/** Defines a list of transcription languages: the known codes and the operator's own. */
export function LanguageList(Language: ReturnType<typeof LanguageCode>) {
  return Type.Array(Language, { maxItems: Math.max(MAX_LANGUAGES, Language.enum.length) })
}

/**
 * Defines the configuration objects of the add-ons. Bounds are inclusive. A field
 * with a default is always present after reading, although clients may omit it.
 */
export function addOnConfigs({ models, requests }: Pick<Config, 'models' | 'requests'>) {
  const Language = LanguageCode([...transcriptionCodes, ...models.extraLanguageCodes])
  const Target = LanguageCode([...translationCodes, ...models.extraLanguageCodes])
  const PiiType = Type.Unsafe<string>({ type: 'string', enum: piiTypes })
  const Prompt = Type.String({ maxLength: MAX_PROMPT_CHARS })
  const Intensity = Type.Number({ minimum: 0, maximum: 1 })
  const VocabularyEntry = Type.Object({
    value: Term,
    intensity: Type.Optional(Intensity),
    pronunciations: Type.Optional(Type.Array(AnyTerm, { maxItems: MAX_PRONUNCIATIONS })),
    language: Type.Optional(Language),
  })
  const Vocabulary = Type.Array(Type.Union([Term, VocabularyEntry]), {
    maxItems: requests.maxVocabulary,
    'x-setting': 'STENO_MAX_VOCABULARY',
  })
  return {
    Language,
    Vocabulary,
    LanguageConfig: Type.Object(
      {
        languages: Type.Optional(LanguageList(Language)),
        code_switching: Type.Optional(Type.Boolean()),
      },
      { title: 'LanguageConfig' },
    ),
    CustomVocabularyConfig: Type.Object(
      {
        // The list is required, unless `custom_vocabulary` itself is the list, as in requests of
        // older clients.
        vocabulary: Type.Optional(Vocabulary),
        default_intensity: Type.Number({ minimum: 0, maximum: 1, default: 0.5 }),
      },
      { title: 'CustomVocabularyConfig' },
    ),
    CustomSpellingConfig: Type.Object(
      {
        spelling_dictionary: Type.Record(
          Type.String(),
          Type.Array(AnyTerm, { maxItems: MAX_VARIANTS }),
          { maxProperties: MAX_SPELLINGS, propertyNames: { maxLength: MAX_TERM_CHARS } },
        ),
      },
      { title: 'CustomSpellingConfig' },
    ),
    DiarizationConfig: Type.Object(
      {
        number_of_speakers: Type.Optional(Type.Integer({ minimum: 1 })),
        min_speakers: Type.Optional(Type.Integer({ minimum: 0 })),
        max_speakers: Type.Optional(Type.Integer({ minimum: 0 })),
        speaker_confidence: Type.Optional(
          Type.Boolean({
            description: 'Adds the confidence of the speaker to each utterance; an extension',
          }),
        ),
        enhanced: Ignored(),
      },
      { title: 'DiarizationConfig' },
    ),
    TranslationConfig: Type.Object(
      {
        target_languages: Type.Array(Target, {
          minItems: 1,
          maxItems: requests.maxTargetLanguages,
          'x-setting': 'STENO_MAX_TARGET_LANGUAGES',
        }),
        model: Choice('base', 'batch', 'enhanced'),
        match_original_utterances: Type.Boolean({ default: true }),
        lipsync: Type.Boolean({ default: true }),
        context_adaptation: Type.Boolean({ default: true }),
        context: Type.Optional(Type.String({ maxLength: MAX_PROMPT_CHARS })),
        informal: Switch(),
      },
      { title: 'TranslationConfig' },
    ),
    SubtitlesConfig: Type.Object(
      {
        formats: Type.Array(Type.Unsafe<'srt' | 'vtt'>({ type: 'string', enum: ['srt', 'vtt'] }), {
          minItems: 1,
          maxItems: MAX_FORMATS,
          default: ['srt'],
        }),
        minimum_duration: Type.Optional(Type.Number({ minimum: 0 })),
        maximum_duration: Type.Optional(Type.Number({ minimum: 1, maximum: 30 })),
        maximum_characters_per_row: Type.Optional(Type.Integer({ minimum: 1 })),
        maximum_rows_per_caption: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
        style: Choice('default', 'compliance'),
        speakers: Type.Optional(
          Type.Boolean({
            description:
              'Names the speakers, or else the channels, where there are several: in WebVTT by voice tags ' +
              '(`<v Speaker 1>`), in SubRip before the words (`Speaker 1: `). False by default. An extension',
          }),
        ),
      },
      { title: 'SubtitlesConfig' },
    ),
    NumberFormattingConfig: Type.Object(
      { style: Choice('digits', 'words') },
      { title: 'NumberFormattingConfig' },
    ),
    SummarizationConfig: Type.Object(
      { type: Choice('general', 'bullet_points', 'concise') },
      { title: 'SummarizationConfig' },
    ),
    AudioToLlmConfig: Type.Object(
      {
        prompts: Type.Array(
          Type.Union([Prompt, Type.Array(Prompt, { maxItems: MAX_PROMPT_PARTS })]),
          { minItems: 1, maxItems: requests.maxPrompts, 'x-setting': 'STENO_MAX_PROMPTS' },
        ),
        model: Type.String({ maxLength: MAX_NAME_CHARS, default: models.defaultLlm }),
      },
      { title: 'AudioToLlmConfig' },
    ),
    PiiRedactionConfig: Type.Object(
      {
        entity_types: Type.Optional(
          Type.Union([PiiType, Type.Array(PiiType, { maxItems: MAX_ENTITY_TYPES })]),
        ),
        processed_text_type: Choice('MARKER', 'MASK'),
        audio: Type.Optional(
          Type.Boolean({
            description:
              'Keeps a recording with a tone in place of what was redacted, and deletes the original. An extension',
          }),
        ),
      },
      { title: 'PiiRedactionConfig' },
    ),
    ExtractionConfig: Type.Object(
      { classes: Type.Optional(Type.Array(AnyTerm, { maxItems: MAX_CLASSES })) },
      { title: 'ExtractionConfig' },
    ),
    CallbackConfig: Type.Object(
      { url: HttpUrl, method: Choice('POST', 'PUT') },
      { title: 'CallbackConfig' },
    ),
  }
}

/** The schemas that `addOnConfigs` defines. */
export type AddOnConfigs = ReturnType<typeof addOnConfigs>

/** Says that a field is no longer read, to readers and to `validate-fields.ts`. */
export const IGNORED = { description: 'Accepted and ignored', 'x-ignored': true }

/**
 * Defines a field that some clients still send and the server ignores. It causes no error; the
 * result warns of it.
 */
export function Ignored() {
  return Type.Optional(Type.Unknown({ deprecated: true, ...IGNORED }) as TSchema)
}
