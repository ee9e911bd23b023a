import {
  MAX_EDIT_CHARS,
  MAX_EDIT_INDEX,
  MAX_EDIT_OPERATIONS,
  MAX_EDIT_SPEAKER,
  MAX_SPEAKER_NAME_CHARS,
} from '../common/limits.ts'
import { Type } from '../common/type.ts'
import { DateTime, FreeObject, Nullable, OneOf } from '../common/values.ts'

const index = { minimum: 0, maximum: MAX_EDIT_INDEX }
const speaker = { minimum: 0, maximum: MAX_EDIT_SPEAKER }
const Version = Type.Integer({ ...index, description: '0 is the transcript of the machine' })

/** The kinds of operations. */
export const editKinds = [
  'replace_words',
  'delete_words',
  'set_speaker',
  'join_speakers',
  'name_speaker',
  'restore',
] as const

const Operation = Type.Object(
  {
    op: OneOf(...editKinds),
    utterance: Type.Optional(
      Type.Integer({ ...index, description: 'Of the words: its index in the result, from 0' }),
    ),
    from: Type.Optional(
      Type.Integer({ ...index, description: 'The first word, from 0; default 0' }),
    ),
    to: Type.Optional(
      Type.Integer({ ...index, description: 'The word after the last one; default: all' }),
    ),
    expected: Type.Optional(
      Type.String({
        maxLength: MAX_EDIT_CHARS,
        description: 'The text of these words in the result. Other words there result in 409',
      }),
    ),
    text: Type.Optional(
      Type.String({
        maxLength: MAX_EDIT_CHARS,
        description: 'Of `replace_words`: what they should read. Words that stay keep their times',
      }),
    ),
    speaker: Type.Optional(
      Type.Integer({
        ...speaker,
        description: 'Who says the words; who is joined or named. `set_speaker` takes new numbers',
      }),
    ),
    into: Type.Optional(
      Type.Integer({ ...speaker, description: 'Of `join_speakers`: who says all words of both' }),
    ),
    channel: Type.Optional(
      Type.Integer({ ...speaker, description: 'Of `name_speaker`, without diarization' }),
    ),
    name: Type.Optional(
      Type.String({
        maxLength: MAX_SPEAKER_NAME_CHARS,
        description: 'Shown in files instead of `Speaker 1`; an empty one removes it',
      }),
    ),
    version: Type.Optional(
      Type.Integer({
        ...index,
        description: 'Of `restore`, which must be the only operation: the version to bring back',
      }),
    ),
  },
  {
    title: 'EditOperation',
    description: 'Indexes count from 0 in the result of the job, which corrections never change',
  },
)

/** The body of a request that corrects a transcript. */
export const EditRequest = Type.Object(
  {
    base_version: Version,
    operations: Type.Array(Operation, {
      minItems: 1,
      maxItems: MAX_EDIT_OPERATIONS,
      description: 'Applied in this order: all of them, or none',
    }),
  },
  {
    title: 'EditRequest',
    examples: [
      {
        base_version: 0,
        operations: [
          { op: 'replace_words', utterance: 3, expected: 'helo there', text: 'hello there' },
          { op: 'name_speaker', speaker: 0, name: 'Ann' },
        ],
      },
    ],
  },
)

/** A version of a corrected transcript. */
export const TranscriptVersionView = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    created_at: DateTime,
    key_name: Nullable(
      Type.String({
        description: 'The name of the key that created it, or the beginning of the key',
      }),
    ),
    operations: Type.Integer({ minimum: 0 }),
    restored: Nullable(Type.Integer({ minimum: 0, description: 'The version it brings back' })),
  },
  { title: 'TranscriptVersion' },
)

const range = {
  utterance: Type.Integer(index),
  from: Type.Integer(index),
  to: Type.Integer({ ...index, description: 'Exclusive' }),
  expected: Type.String({ description: 'The words of the machine' }),
}

/** The corrections of a transcript. */
export const TranscriptEditsView = Type.Object(
  {
    version: Version,
    versions: Type.Array(TranscriptVersionView, { description: 'Newest first' }),
    edits: Type.Object(
      {
        words: Type.Array(Type.Object({ ...range, text: Type.String() })),
        speakers: Type.Array(Type.Object({ ...range, speaker: Type.Integer(speaker) })),
        joined: Type.Array(
          Type.Object({ speaker: Type.Integer(speaker), into: Type.Integer(speaker) }),
        ),
        names: Type.Array(
          Type.Object({
            speaker: Type.Optional(Type.Integer(speaker)),
            channel: Type.Optional(Type.Integer(speaker)),
            name: Type.String(),
          }),
        ),
        ignored: Type.Boolean({
          description: 'Whether the corrections were made for other words, and so are left out',
        }),
      },
      { description: 'What all corrections add up to' },
    ),
  },
  { title: 'TranscriptEdits' },
)

/** The transcript in the format `json`. */
export const TranscriptJson = FreeObject(
  '`full_transcript`, `languages` and `utterances`. Of a corrected transcript each utterance has its ' +
    '`source` (`utterance`, `from` and `to` in the result) and `speaker_name`, if there is one; ' +
    'each word has the index of its `source`, and `edited` if a person wrote it',
)
