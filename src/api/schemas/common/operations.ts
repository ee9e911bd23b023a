import type { JobKind } from '../../../storage/jobs/jobs.ts'
import { errorResponses } from './error.ts'
import { MAX_IDEMPOTENCY_KEY_CHARS, MAX_NAME_CHARS } from './limits.ts'
import { Type } from './type.ts'

/**
 * The description of one route: its tag, its name in generated clients, its heading and its text.
 */
export type ApiOperation = {
  tags: [string]
  operationId: string
  summary: string
  description: string
}

const kinds = {
  'pre-recorded': {
    tag: 'Pre-recorded',
    name: 'PreRecorded',
    one: 'a pre-recorded job',
    many: 'pre-recorded jobs',
  },
  live: { tag: 'Live', name: 'Live', one: 'a live session', many: 'live sessions' },
  both: { tag: 'Transcription', name: 'Transcription', one: 'a job', many: 'jobs of both kinds' },
} as const

const uploadedFile = 'Returns the bytes as they were uploaded or fetched.'
const sessionRecording =
  'Returns a WAVE file of all audio that the session accepted, once it has ended.'
const recordings = {
  'pre-recorded': uploadedFile,
  live: sessionRecording,
  both: `${uploadedFile} For a live session, the file is a WAVE file of all audio that it accepted, once it has ended.`,
}

/** Describes the routes that every kind of job has. */
export function jobOperations(kind: JobKind | undefined) {
  const { tag, name, one, many } = kinds[kind ?? 'both']
  const operation = (verb: string, summary: string, description: string): ApiOperation => ({
    tags: [tag],
    operationId: verb.replace('*', name),
    summary,
    description,
  })
  return {
    list: operation(
      'list*',
      `List ${many}`,
      'Lists jobs, newest first. Follow `next` until it is null to see all. An empty parameter counts as not given.',
    ),
    get: operation(
      'get*',
      `Get ${one}`,
      'Returns the job with everything it has so far. Its `result` is there as soon as its `status` is `done`.',
    ),
    remove: operation(
      'delete*',
      `Delete ${one}`,
      'Removes the job, its result and, unless another job uses it, its recording. The job must have ended.',
    ),
    transcript: operation(
      'get*Transcript',
      `Get the transcript of ${one} as a file`,
      'Returns text, subtitles or JSON, made from the stored words once the job is `done`, with the corrections of people ' +
        'unless `edited` is false. An extension.',
    ),
    edits: operation(
      'get*TranscriptEdits',
      `Get the corrections of the transcript of ${one}`,
      'Returns the versions of the transcript, and the result of all corrections together. The `result` of the job stays as the machine made it. An extension.',
    ),
    edit: operation(
      'edit*Transcript',
      `Correct the transcript of ${one}`,
      'Adds a version. Returns 409 if `base_version` is not the current one, or if the result has other words than ' +
        'an operation expects. Needs the scope `write`. An extension.',
    ),
    share: operation(
      'share*',
      `Create a link to ${one}`,
      'Until the link expires, anyone with it can read the transcript and play the recording without a key, or read ' +
        'the captions of a session that still runs. Needs the scopes `read` and `write`. An extension.',
    ),
    shares: operation(
      'list*Shares',
      `List the links to ${one}`,
      'Lists the links that still work. An extension.',
    ),
    unshare: operation(
      'end*Share',
      `Delete a link to ${one}`,
      'The link stops working. Needs the scope `write`. An extension.',
    ),
    file: operation(
      'get*File',
      `Download the recording of ${one}`,
      `${recordings[kind ?? 'both']} Supports one byte range.`,
    ),
  }
}

/** Describes the creation of a pre-recorded job, by the path of the request. */
export function creationOperation(path: string): ApiOperation {
  const { tag, name } = kinds[path === '/v2/pre-recorded' ? 'pre-recorded' : 'both']
  return {
    tags: [tag],
    operationId: `create${name}`,
    summary: 'Create a pre-recorded job',
    description:
      'Responds as soon as the job is stored. Request the job at its `result_url` until its `status` is `done` or `error`. ' +
      'Each feature is a switch with an optional configuration, which is checked in any case and used only with its switch. ' +
      'The header `x-steno-warning` of the response names unknown fields and old ones, which are ignored, and options without effect.',
  }
}

/**
 * The request headers of a creation. With an idempotency key, a repeated request creates only one
 * job.
 */
export const CreationHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_IDEMPOTENCY_KEY_CHARS,
      description:
        'Within 24 hours, a second request with the same key and body gets the response to the first; one with another body gets 422.',
    }),
  ),
})

/** Responses to a deletion. */
export const deletionResponses = {
  202: Type.Unsafe<undefined>(Type.Null({ description: 'The job is deleted' })),
  ...errorResponses(403, 404),
}

/** Which recording of a job is requested; an extension of the API. */
export const JobFileQuery = Type.Object({
  redacted: Type.Optional(
    Type.Boolean({
      description:
        'Asks for the recording that `pii_redaction_config.audio` made: WAVE, 16 bits at 16 kHz, with a tone in place of what was redacted. The original of such a job is not kept.',
    }),
  ),
})

/** The request headers of a download, which may request a range. */
export const RangeHeaders = Type.Object({
  Range: Type.Optional(
    Type.String({ maxLength: MAX_NAME_CHARS, description: 'One range, such as `bytes=0-1023`' }),
  ),
})

const ContentRange = Type.String({ description: 'The range of the bytes sent, and the total size' })

/** Returns the responses to a download, of whatever media type. */
export function downloadResponses(mediaTypes: readonly string[]) {
  const content = Object.fromEntries(mediaTypes.map((type) => [type, { schema: {} }]))
  const headers = {
    'Content-Disposition': Type.String({ description: 'Contains the file name' }),
    'Accept-Ranges': Type.String(),
  }
  return {
    200: { description: 'The whole file', headers, content },
    206: {
      description: 'The requested range',
      headers: { ...headers, 'Content-Range': ContentRange },
      content,
    },
    ...errorResponses(404, 416),
  }
}
