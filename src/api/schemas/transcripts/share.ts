import { Type } from '../common/type.ts'
import { DateTime, FreeObject, Nullable, OneOf, Seconds, Uuid } from '../common/values.ts'

const DAY_S = 86_400

/** The body of a request for a link: how long it works, and what it shows. */
export const ShareRequest = Type.Object(
  {
    expires_in_s: Type.Integer({
      minimum: 60,
      maximum: 30 * DAY_S,
      default: 7 * DAY_S,
      description: 'Seconds until the link ends',
    }),
    edited: Type.Boolean({
      default: true,
      description:
        'Shows the corrections of people, also later ones; else the words of the machine',
    }),
  },
  { title: 'ShareRequest', examples: [{ expires_in_s: 3600 }] },
)

const fields = {
  id: Uuid,
  created_at: DateTime,
  expires_at: DateTime,
  edited: Type.Boolean(),
  key_name: Nullable(Type.String({ description: 'The name of the key that created it' })),
}

/** A new link. */
export const CreatedShare = Type.Object(
  {
    ...fields,
    url: Type.String({
      description:
        'The address of the link. Only this response contains it, because the server stores only the hash of its secret',
    }),
  },
  { title: 'CreatedShare' },
)

/** The links of a job that still work. */
export const ShareList = Type.Object(
  { items: Type.Array(Type.Object(fields, { title: 'Share' })) },
  { title: 'ShareList' },
)

/** What a link shows. */
export const SharedView = Type.Object(
  {
    name: Nullable(
      Type.String({ description: 'The name of the file; null for a redacted recording' }),
    ),
    kind: OneOf('pre-recorded', 'live'),
    created_at: DateTime,
    audio_duration: Nullable(Seconds),
    has_audio: Type.Boolean(),
    expires_at: DateTime,
    is_live: Type.Boolean({
      description:
        'Whether the session still runs; then `…/captions` has its words, and `transcript` has none',
    }),
    transcript: FreeObject('The transcript as `…/transcript?format=json&words=true` returns it'),
  },
  { title: 'SharedRecording' },
)
