import { errorResponses } from '../common/error.ts'
import { Type } from '../common/type.ts'
import { FreeObject, OneOf } from '../common/values.ts'

/** The limits of objects that this server reads only in part. */
const OBJECT_BOUNDS = { maxProperties: 50, propertyNames: { maxLength: 100 } }
const [MIN_SECONDS, MAX_SECONDS] = [10, 7200]
/** How long a client secret is valid if a request does not say so, in seconds. */
export const DEFAULT_SECONDS = 600

/**
 * The body of a request for a client secret: how long it is valid, and the settings of its session.
 */
export const ClientSecretRequest = Type.Object(
  {
    expires_after: Type.Optional(
      Type.Object({
        anchor: Type.Optional(OneOf('created_at')),
        seconds: Type.Integer({
          minimum: MIN_SECONDS,
          maximum: MAX_SECONDS,
          default: DEFAULT_SECONDS,
          description: 'Seconds for which the secret opens sockets',
        }),
      }),
    ),
    session: Type.Optional(
      FreeObject(
        'A session of the type `transcription`, as `session.update` takes it',
        OBJECT_BOUNDS,
      ),
    ),
  },
  {
    title: 'OpenAiClientSecretRequest',
    examples: [
      {
        expires_after: { anchor: 'created_at', seconds: DEFAULT_SECONDS },
        session: { type: 'transcription', audio: { input: { transcription: { language: 'en' } } } },
      },
    ],
  },
)

/** The settings of a session, as `transcription_session.update` takes them. */
export const TranscriptionSessionRequest = Type.Object(
  {
    input_audio_format: Type.Optional(OneOf('pcm16', 'g711_ulaw', 'g711_alaw')),
    input_audio_transcription: Type.Optional(FreeObject(undefined, OBJECT_BOUNDS)),
    turn_detection: Type.Optional(FreeObject(undefined, OBJECT_BOUNDS)),
    include: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 10 })),
  },
  { title: 'OpenAiTranscriptionSessionRequest' },
)

const expiresAt = Type.Integer({ description: 'Seconds since 1970' })
const value = Type.String({
  description:
    'The secret. Only this response contains it, because the server stores only its hash',
})

const ClientSecretView = Type.Object(
  { value, expires_at: expiresAt, session: FreeObject() },
  { title: 'OpenAiClientSecret' },
)

const TranscriptionSessionView = Type.Object(
  {
    id: Type.String(),
    object: Type.String(),
    client_secret: Type.Object({ value, expires_at: expiresAt }),
  },
  { title: 'OpenAiTranscriptionSession', additionalProperties: true },
)

const errors = errorResponses(413, 415)

/** The description of the route that creates client secrets. */
export const clientSecretOperation = {
  tags: ['OpenAI-compatible'],
  operationId: 'createOpenAiClientSecret',
  summary: 'Create a short-lived secret for a web page',
  description:
    'The secret opens `GET /v1/realtime?intent=transcription` with the rights of this key (scope `live`) and nothing else. ' +
    'It expires at `expires_at`, or with the key.',
  body: ClientSecretRequest,
  response: { 200: ClientSecretView, ...errors },
}

/** The description of the same route in the beta version of OpenAI's API. */
export const transcriptionSessionOperation = {
  ...clientSecretOperation,
  operationId: 'createOpenAiTranscriptionSession',
  summary: 'Create a short-lived secret for a web page (older form)',
  body: TranscriptionSessionRequest,
  response: { 200: TranscriptionSessionView, ...errors },
}
