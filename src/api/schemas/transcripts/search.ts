import type { Config } from '../../../config/config.ts'
import { MAX_METADATA_KEY_CHARS, MAX_METADATA_KEYS, MAX_NAME_CHARS } from '../common/limits.ts'
import { AnyOf, DateFilter, listPageSchema, pageFields } from '../common/list-query.ts'
import { Type } from '../common/type.ts'
import { FreeObject, Nullable, OneOf } from '../common/values.ts'
import { LanguageCode, transcriptionCodes } from '../models/language-codes.ts'

/** The longest query. */
const MAX_QUERY_CHARS = 500

/** Defines the query of a search: what to search for, and in which jobs. */
export function searchQuery({ extraLanguageCodes }: Pick<Config['models'], 'extraLanguageCodes'>) {
  const Language = LanguageCode([...transcriptionCodes, ...extraLanguageCodes])
  return Type.Object({
    q: Type.String({
      minLength: 1,
      maxLength: MAX_QUERY_CHARS,
      description:
        'Words that one utterance must have, in any form of the word; `"…"` for words in this order, `-word` for one ' +
        'that it must not have, `word*` for the beginning of one',
    }),
    language: Type.Optional(
      Type.Unsafe<string>({ ...Language, description: 'The language of the utterance' }),
    ),
    speaker: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The speaker of the utterance, as in its job' }),
    ),
    speaker_name: Type.Optional(
      Type.String({
        maxLength: MAX_NAME_CHARS,
        description: 'Who speaks the utterance, as a correction named the speaker or the channel',
      }),
    ),
    ...pageFields('Utterances'),
    date: DateFilter('Utterances of jobs created on this UTC day'),
    before_date: DateFilter('Utterances of jobs created before this time'),
    after_date: DateFilter('Utterances of jobs created after this time'),
    kind: AnyOf(['pre-recorded', 'live'], 'Utterances of jobs of any of these kinds'),
    custom_metadata: Type.Optional(
      FreeObject('Utterances of jobs with these keys and values, as in lists of jobs', {
        maxProperties: MAX_METADATA_KEYS,
        propertyNames: { maxLength: MAX_METADATA_KEY_CHARS },
      }),
    ),
  })
}

/** An utterance that was found. */
export const SearchHitView = Type.Object(
  {
    job: Type.Object({
      id: Type.String(),
      kind: OneOf('pre-recorded', 'live'),
      created_at: Type.String({ format: 'date-time' }),
      filename: Nullable(Type.String()),
    }),
    start: Type.Number({ description: 'Seconds from the start of the recording' }),
    end: Type.Number(),
    channel: Type.Integer(),
    speaker: Nullable(Type.Integer({ description: 'Null without diarization' })),
    speaker_name: Nullable(
      Type.String({ description: 'The name that a correction gave the speaker or the channel' }),
    ),
    language: Type.String(),
    text: Type.String(),
    highlights: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
      description: 'Where the text contains the words: start and end, in UTF-16 code units',
    }),
    before: Nullable(Type.String({ description: 'The utterance before it' })),
    after: Nullable(Type.String({ description: 'The utterance after it' })),
  },
  { title: 'SearchHit' },
)

/** One page of utterances that were found. */
export const SearchHits = listPageSchema(SearchHitView, 'SearchHits')
