import type { Static, TSchema } from 'typebox'
import { listPageSchema } from '../common/list-query.ts'
import { Type } from '../common/type.ts'
import { DateTime, FreeObject, Nullable, OneOf, Seconds, Uuid } from '../common/values.ts'
import { LiveResult, PreRecordedResult } from './job-results.ts'
import { LiveParams, PreRecordedParams } from './request-params.ts'

const FileView = Type.Object(
  {
    id: Uuid,
    filename: Nullable(Type.String()),
    source: Nullable(
      Type.String({ description: 'The address from which it was fetched, as the client sent it' }),
    ),
    audio_duration: Nullable(Seconds),
    number_of_channels: Nullable(Type.Integer({ minimum: 1 })),
  },
  {
    title: 'JobFile',
    description: 'The recording as it was uploaded; deleted when its audio is redacted',
  },
)

const Status = OneOf('queued', 'processing', 'done', 'error')

const fields = {
  id: Uuid,
  request_id: Type.String({ pattern: '^G-[0-9a-f]{8}$' }),
  version: Type.Unsafe<number>({ type: 'integer', enum: [2] }),
  status: Status,
  created_at: DateTime,
  completed_at: Nullable(DateTime),
  custom_metadata: Type.Optional(FreeObject('The value that the client sent')),
  error_code: Nullable(
    Type.Integer({ minimum: 400, maximum: 599, description: 'Why it failed, as an HTTP status' }),
  ),
  post_session_metadata: FreeObject(
    'Metadata that a client sent for a live session; for a failed job also `failure`, with `code` and `message`',
  ),
}
const file = Nullable(FileView)

/**
 * Returns the schema of the parameters or the result. They are stored as they are sent, so the
 * schema serves only the description.
 */
const storedJson = (schema: TSchema) => Nullable(Type.Unsafe<Record<string, unknown>>(schema))

/** A job of recorded audio. */
const PreRecordedJob = Type.Object(
  {
    ...fields,
    kind: OneOf('pre-recorded'),
    file,
    request_params: storedJson(PreRecordedParams),
    result: storedJson(PreRecordedResult),
  },
  { title: 'PreRecordedJob' },
)

/** A live session. */
const LiveJob = Type.Object(
  {
    ...fields,
    kind: OneOf('live'),
    file,
    request_params: storedJson(LiveParams),
    result: storedJson(LiveResult),
  },
  { title: 'LiveJob' },
)

/** A job in the response of every endpoint. */
export const JobView = Type.Unsafe<JobView>(
  Type.Union([PreRecordedJob, LiveJob], {
    title: 'Job',
    discriminator: {
      propertyName: 'kind',
      mapping: {
        'pre-recorded': '#/components/schemas/PreRecordedJob',
        live: '#/components/schemas/LiveJob',
      },
    },
  }),
)

/** A job of either kind, in a response. */
export type JobView = Static<typeof PreRecordedJob> | Static<typeof LiveJob>

/** Returns the job schema of the routes of one kind, or of both. */
export function jobViewOf(kind: JobView['kind'] | undefined) {
  const schemas = { 'pre-recorded': PreRecordedJob, live: LiveJob }
  return Type.Unsafe<JobView>(kind ? schemas[kind] : JobView)
}

/** Returns the schema of one page of a list. */
export function jobListOf(kind: JobView['kind'] | undefined) {
  const names = { 'pre-recorded': 'PreRecordedJobList', live: 'LiveJobList' }
  return listPageSchema(jobViewOf(kind), kind ? names[kind] : 'JobList')
}

/** The response to a creation. */
export const CreatedJob = Type.Object(
  {
    id: Uuid,
    result_url: Type.String({
      format: 'uri',
      description: 'The address of the job, for GET and DELETE',
    }),
  },
  { title: 'CreatedJob' },
)

/** The response to the creation of a live session. */
export const CreatedSession = Type.Object(
  {
    id: Uuid,
    created_at: DateTime,
    url: Type.String({
      format: 'uri',
      description:
        'Where the client connects its socket, and reconnects it; contains the secret of the session',
    }),
  },
  { title: 'CreatedSession' },
)

/** The progress of a job, for people who wait for it. */
export const JobProgressView = Type.Object(
  {
    status: Status,
    stage: Nullable(Type.String({ description: 'The current step, in words' })),
    fraction: Nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'The progress of the whole job' }),
    ),
    seconds_left: Nullable(Type.Number({ minimum: 0 })),
  },
  { title: 'JobProgress' },
)

/** The id in a path. Any text is accepted: one that is not an id is not found. */
export const IdParams = Type.Object({ id: Type.String() })
