import Type, { type Static, type TSchema } from 'typebox'

/** An object whose keys are not ours to name. */
export function FreeObject() {
  return Type.Record(Type.String(), Type.Unknown())
}

function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

const DateTime = Type.String({ description: 'ISO 8601, UTC, with milliseconds' })

/** A job as every endpoint answers it (contract 3.1). */
export const JobView = Type.Object({
  id: Type.String(),
  request_id: Type.String(),
  version: Type.Integer(),
  status: Type.Unsafe<'queued' | 'processing' | 'done' | 'error'>({ type: 'string' }),
  created_at: DateTime,
  completed_at: Nullable(DateTime),
  custom_metadata: Type.Optional(FreeObject()),
  error_code: Nullable(Type.Integer()),
  post_session_metadata: FreeObject(),
  kind: Type.Unsafe<'pre-recorded' | 'live'>({ type: 'string' }),
  file: Nullable(
    Type.Object({
      id: Type.String(),
      filename: Nullable(Type.String()),
      source: Nullable(Type.String()),
      audio_duration: Nullable(Type.Number()),
      number_of_channels: Nullable(Type.Integer()),
    }),
  ),
  request_params: Nullable(FreeObject()),
  result: Nullable(FreeObject()),
})

export type JobView = Static<typeof JobView>

/** One page of a list. */
export const JobList = Type.Object({
  first: Type.String(),
  current: Type.String(),
  next: Nullable(Type.String()),
  items: Type.Array(JobView),
})

/** What part of the list is asked for. */
export const ListQuery = Type.Object({
  offset: Type.Integer({ minimum: 0, default: 0 }),
  limit: Type.Integer({ minimum: 1, default: 20 }),
})

/** The answer to a creation. */
export const CreatedJob = Type.Object({ id: Type.String(), result_url: Type.String() })

/** How far a job is: for people who wait for it. */
export const JobProgressView = Type.Object({
  status: Type.String(),
  stage: Nullable(Type.String()),
  fraction: Nullable(Type.Number()),
  seconds_left: Nullable(Type.Number()),
})

/** The id in a path. Any text is accepted here: what is not an id is simply not found. */
export const IdParams = Type.Object({ id: Type.String() })
