import { Type } from '../common/type.ts'
import { Language, OneOf, Seconds } from '../common/values.ts'
import { addOnResult } from './add-on-result.ts'

const Confidence = Type.Number({ minimum: 0, maximum: 1, description: '1 is certain' })

const WordView = Type.Object(
  {
    word: Type.String({
      description: 'The word with its punctuation, and the space before it, if any',
    }),
    start: Seconds,
    end: Seconds,
    confidence: Confidence,
  },
  { title: 'Word' },
)

/** An uninterrupted stretch of speech of one speaker. */
export const UtteranceView = Type.Object(
  {
    start: Seconds,
    end: Seconds,
    confidence: Confidence,
    channel: Type.Integer({ minimum: 0, description: 'The channel of the recording, from 0' }),
    speaker: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The number of the speaker, from 0 by first appearance; only with diarization',
      }),
    ),
    speaker_confidence: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'How sure the speaker is; only with `diarization_config.speaker_confidence`',
      }),
    ),
    words: Type.Array(WordView),
    text: Type.String({ description: 'The text of all words' }),
    language: Language,
    language_confidence: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'The probability of the language, where it was identified; only with `STENO_RESULT_MODEL=true`',
      }),
    ),
    model: Type.Optional(
      Type.String({
        description:
          'The model that recognized it, with its version; only with `STENO_RESULT_MODEL=true`',
      }),
    ),
  },
  { title: 'Utterance' },
)

const {
  text: _text,
  speaker_confidence: _sure,
  language_confidence: _probable,
  model: _model,
  ...sentenceFields
} = UtteranceView.properties

const NativeSentence = Type.Object(
  { sentence: Type.String(), ...sentenceFields },
  { title: 'NativeSentence', description: 'A sentence with its words' },
)

/** The sentences of a text, in time order. */
export const SentencesResult = addOnResult(
  'Sentences',
  Type.Union([Type.Array(Type.String()), Type.Array(NativeSentence), Type.Null()], {
    description: 'Strings, unless the server has `STENO_ADDON_RESULTS=native`',
  }),
)

/** A file of subtitles. */
export const SubtitleView = Type.Object(
  {
    format: OneOf('srt', 'vtt'),
    subtitles: Type.String({ description: 'The content of the file' }),
  },
  { title: 'Subtitles' },
)

/** The fields of a text with its times: of the transcription and of each translation. */
export const textFields = {
  full_transcript: Type.String(),
  languages: Type.Array(Language),
  utterances: Type.Array(UtteranceView, { description: 'The utterances, by start, then channel' }),
  sentences: Type.Optional(
    Type.Array(SentencesResult, { minItems: 1, maxItems: 1, description: 'Only if requested' }),
  ),
  subtitles: Type.Optional(
    Type.Array(SubtitleView, { description: 'Only if requested; one per format' }),
  ),
}

/** The transcription. */
export const TranscriptionView = Type.Object(textFields, { title: 'Transcription' })
