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
const Version = Type.Integer({
  ...index,
  description: 'A version of the transcript; 0 is that of the machine',
})

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
      Type.Integer({
        ...index,
        description: 'The index of the utterance that contains the words, from 0',
      }),
    ),
    from: Type.Optional(
      Type.Integer({ ...index, description: 'The index of the first word, from 0; 0 by default' }),
    ),
    to: Type.Optional(
      Type.Integer({
        ...index,
        description: 'The index after the last word; by default the end of the utterance',
      }),
    ),
    expected: Type.Optional(
      Type.String({
        maxLength: MAX_EDIT_CHARS,
        description:
          'The text of these words in the result; if the result has other words there, the response is 409',
      }),
    ),
    text: Type.Optional(
      Type.String({
        maxLength: MAX_EDIT_CHARS,
        description: 'For `replace_words`: the new text. Words that stay keep their times',
      }),
    ),
    speaker: Type.Optional(
      Type.Integer({
        ...speaker,
        description:
          'The speaker who said the words, or who is joined or named; `set_speaker` also takes a new number',
      }),
    ),
    into: Type.Optional(
      Type.Integer({
        ...speaker,
        description: 'For `join_speakers`: the speaker who gets the words of both',
      }),
    ),
    channel: Type.Optional(
      Type.Integer({
        ...speaker,
        description: 'For `name_speaker` without diarization: the channel to name',
      }),
    ),
    name: Type.Optional(
      Type.String({
        maxLength: MAX_SPEAKER_NAME_CHARS,
        description: 'The name that files show instead of `Speaker 1`; an empty one removes it',
      }),
    ),
    version: Type.Optional(
      Type.Integer({
        ...index,
        description: 'For `restore`, which must be the only operation: the version to bring back',
      }),
    ),
  },
  {
    title: 'EditOperation',
    description:
      'One correction. Indexes count from 0 in the result of the job, which corrections never change',
  },
)

/** The body of a request that corrects a transcript. */
export const EditRequest = Type.Object(
  {
    base_version: Version,
    operations: Type.Array(Operation, {
      minItems: 1,
      maxItems: MAX_EDIT_OPERATIONS,
      description: 'The corrections, applied in this order: all of them or none',
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
  to: Type.Integer({ ...index, description: 'The index after the last word' }),
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
          description:
            'Whether the corrections were made for other words and are therefore left out',
        }),
      },
      { description: 'The result of all corrections together' },
    ),
  },
  { title: 'TranscriptEdits' },
)

/** The transcript in the format `json`. */
export const TranscriptJson = FreeObject(
  'An object with `full_transcript`, `languages` and `utterances`. In a corrected transcript, each utterance has its ' +
    '`source` (`utterance`, `from` and `to` in the result) and `speaker_name`, if there is one; ' +
    'each word has the index of its `source`, and `edited` if a person wrote it',
)
