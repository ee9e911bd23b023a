import type { TSchema } from 'typebox'
import { Type } from '../common/type.ts'
import { Nullable, OneOf, Seconds } from '../common/values.ts'
import { AddOnError, addOnResult, quotingResult } from '../transcripts/add-on-result.ts'
import {
  SentencesResult,
  SubtitleView,
  TranscriptionView,
  textFields,
  UtteranceView,
} from '../transcripts/transcript-view.ts'
import { piiSingleTypes } from './pii-types.ts'

const Text = Nullable(Type.String())

const Count = Type.Integer({ minimum: 0 })

const Metadata = Type.Object(
  {
    audio_duration: Seconds,
    number_of_distinct_channels: Type.Integer({
      minimum: 1,
      description: 'Channels of equal content count once',
    }),
    billing_time: Type.Number({
      minimum: 0,
      description: 'The duration in seconds, times the distinct channels',
    }),
    transcription_time: Type.Number({ minimum: 0, description: 'Seconds of work' }),
    channel_mode: Type.Optional(
      Type.Unsafe<'mix' | 'separate'>({
        type: 'string',
        enum: ['mix', 'separate'],
        description:
          'How the channels of a recording were recognized: `mix` when several hold the same speech, else `separate`. An extension; results of earlier versions lack it',
      }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'What the result lacks, and why; unknown fields of the request, old ones that are no longer read, and options without effect; whether the recognizer was unsure of most words. Empty when there are no warnings. An extension; results of earlier versions lack it',
      }),
    ),
    usage: Type.Optional(
      Type.Object(
        {
          requests: Count,
          prompt_tokens: Count,
          completion_tokens: Count,
        },
        {
          title: 'LanguageModelUsage',
          description:
            'Tokens that language models used, as their provider counted them; an extension',
        },
      ),
    ),
  },
  { title: 'ResultMetadata' },
)

const Translation = Type.Object(
  { error: Nullable(AddOnError), ...textFields },
  { title: 'Translation', description: 'The text in one of the target languages' },
)

const Entity = Type.Object(
  { entity_type: OneOf(...piiSingleTypes), text: Type.String(), start: Seconds, end: Seconds },
  { title: 'NamedEntity' },
)

const Emotion = Type.String({ description: 'A label such as `neutral` or `contentment`' })

const SentenceSentiment = Type.Object(
  {
    text: Type.String({ description: 'One sentence' }),
    sentiment: OneOf('positive', 'negative', 'neutral', 'mixed', 'unknown'),
    emotion: Emotion,
    start: Seconds,
    end: Seconds,
    channel: Type.Integer({ minimum: 0 }),
    speaker: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { title: 'SentenceSentiment' },
)

const PromptAnswer = Type.Object(
  { prompt: Text, response: Text },
  { title: 'PromptAnswer', description: 'A prompt, and what the language model answered' },
)

const Chapter = Type.Object(
  {
    headline: Type.String({ description: 'A title of a few words' }),
    gist: Type.String({ description: 'One or two sentences' }),
    summary: Type.String(),
    keywords: Type.Array(Type.String()),
    start: Seconds,
    end: Seconds,
  },
  { title: 'Chapter', description: 'A part of the recording about one topic; an extension' },
)

/** The add-ons of both kinds of jobs; each is present only if it was requested. */
const sharedAddOns = {
  translation: Type.Optional(addOnResult('Translation', Nullable(Type.Array(Translation)))),
  summarization: Type.Optional(addOnResult('Summarization', Text)),
  named_entity_recognition: Type.Optional(
    addOnResult('NamedEntityRecognition', Nullable(Type.Array(Entity))),
  ),
  sentiment_analysis: Type.Optional(
    addOnResult(
      'SentimentAnalysis',
      Type.Union(
        [
          Type.String({
            contentMediaType: 'application/json',
            description: 'JSON text of the array',
          }),
          Type.Array(SentenceSentiment),
        ],
        { description: 'JSON text, unless the server has `STENO_ADDON_RESULTS=native`' },
      ),
    ),
  ),
  audio_to_llm: Type.Optional(
    addOnResult(
      'AudioToLlm',
      Nullable(Type.Array(quotingResult('Prompt', Nullable(PromptAnswer)))),
    ),
  ),
}

/** The result of a pre-recorded job. */
export const PreRecordedResult = Type.Object(
  {
    metadata: Metadata,
    transcription: TranscriptionView,
    ...sharedAddOns,
    sentences: Type.Optional(
      Type.Intersect([SentencesResult], {
        deprecated: true,
        description: 'The same as `transcription.sentences`',
      }),
    ),
    moderation: Type.Optional(addOnResult('Moderation', Text)),
    name_consistency: Type.Optional(addOnResult('NameConsistency', Text)),
    structured_data_extraction: Type.Optional(quotingResult('StructuredDataExtraction', Text)),
    display_mode: Type.Optional(addOnResult('DisplayMode', Nullable(Type.Array(Type.String())))),
    chapters: Type.Optional(addOnResult('Chapters', Nullable(Type.Array(Chapter)))),
    diarization: Type.Optional(
      addOnResult('Diarization', Type.Array(UtteranceView, { description: 'Only on failure' })),
    ),
  },
  { title: 'PreRecordedResult' },
)

const {
  metadata: _m,
  transcription: _t,
  diarization: _d,
  sentences: _s,
  ...repeatable
} = PreRecordedResult.properties

/**
 * The entry of a result for one add-on: its envelope, or the files of `subtitles`, none when they
 * failed.
 */
export const AddOnAnswer = Type.Union(
  [
    ...(Object.values(repeatable) as TSchema[]),
    SentencesResult,
    Type.Array(SubtitleView, {
      description: 'The files of `subtitles`; empty when the add-on failed',
    }),
  ],
  { title: 'AddOnAnswer' },
)

/** The result of a live session. */
export const LiveResult = Type.Object(
  {
    metadata: Metadata,
    transcription: TranscriptionView,
    ...sharedAddOns,
    diarization: PreRecordedResult.properties.diarization,
    messages: Type.Optional(
      Type.Array(Type.String({ contentMediaType: 'application/json' }), {
        description: 'The JSON text of each message that was sent during the session, in order',
      }),
    ),
  },
  { title: 'LiveResult' },
)
