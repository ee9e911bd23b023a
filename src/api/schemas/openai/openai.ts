import { errorResponses } from '../common/error.ts'
import { Type } from '../common/type.ts'
import { OneOf, Seconds } from '../common/values.ts'

const Granularity = OneOf('word', 'segment')

/**
 * The form of OpenAI's transcription API. The schema serves only the description, because a form is
 * read as it arrives.
 */
const TranscriptionForm = Type.Object(
  {
    file: Type.Unsafe({
      contentMediaType: 'application/octet-stream',
      description: 'The recording; there must be exactly one',
    }),
    model: Type.Optional(
      Type.String({
        description:
          'A name that `GET /v1/models` lists. OpenAI’s own names stand for the default model; a name that ends in `-diarize` labels speakers',
      }),
    ),
    language: Type.Optional(
      Type.String({ description: 'A language code; without it, the language is identified' }),
    ),
    'languages[]': Type.Optional(
      Type.Array(Type.String(), { description: 'The languages that may be spoken' }),
    ),
    'keywords[]': Type.Optional(Type.Array(Type.String(), { description: 'Words to listen for' })),
    prompt: Type.Optional(
      Type.String({ description: 'Names to listen for: a list, or sentences that hold them' }),
    ),
    response_format: Type.Optional(
      OneOf('json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'),
    ),
    'timestamp_granularities[]': Type.Optional(
      Type.Array(Granularity, { description: 'What `verbose_json` contains; segments by default' }),
    ),
    'include[]': Type.Optional(
      Type.Array(OneOf('logprobs'), {
        description: 'Adds the log probabilities of the words to `json`',
      }),
    ),
    stream: Type.Optional(
      Type.Boolean({
        description: 'Sends `json` and `diarized_json` as server-sent events, at the end',
      }),
    ),
  },
  { title: 'OpenAiTranscriptionForm' },
)

const OpenAiTranscription = Type.Object(
  {
    text: Type.String(),
    task: Type.Optional(Type.String()),
    language: Type.Optional(Type.String({ description: 'The English name of the language' })),
    duration: Type.Optional(Seconds),
    languages: Type.Optional(Type.Array(Type.Object({ code: Type.String() }))),
    words: Type.Optional(Type.Array(Type.Unknown())),
    segments: Type.Optional(Type.Array(Type.Unknown())),
    logprobs: Type.Optional(Type.Array(Type.Unknown())),
    usage: Type.Unknown(),
  },
  { title: 'OpenAiTranscription' },
)

/** The body of every unsuccessful response on the paths of OpenAI's API. */
export const OpenAiErrorView = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: Type.Union([Type.String(), Type.Null()]),
      code: Type.Union([Type.String(), Type.Null()]),
    }),
  },
  { title: 'OpenAiError' },
)

/** The description of the transcription route. */
export const transcriptionOperation = {
  tags: ['OpenAI-compatible'],
  operationId: 'createOpenAiTranscription',
  summary: 'Transcribe a file (OpenAI-compatible)',
  description:
    'Responds when the transcript is ready. A client that disconnects earlier cancels its job. ' +
    'The job is listed like any other. The key may also come as `Authorization: Bearer`.',
  body: { content: { 'multipart/form-data': { schema: TranscriptionForm } } },
  response: {
    200: {
      description: 'The transcript, in the form that `response_format` names',
      content: {
        'application/json': { schema: OpenAiTranscription },
        'text/plain': { schema: Type.String() },
        'text/vtt': { schema: Type.String() },
        'application/x-subrip': { schema: Type.String() },
        'text/event-stream': { schema: Type.String() },
      },
    },
    ...errorResponses(402, 413, 422),
  },
}

/** The description of the translation route. */
export const translationOperation = {
  ...transcriptionOperation,
  operationId: 'createOpenAiTranslation',
  summary: 'Translate a file into English (OpenAI-compatible)',
  description:
    'Works like `POST /v1/audio/transcriptions`, but returns English text. Speech in another language needs a language model (`STENO_LLM_URL`), ' +
    'a multilingual Whisper model or Apertium; without one the response is 422.',
}
