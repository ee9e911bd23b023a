import type { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import { findJob, type Job, type JobFile } from '../../storage/jobs/jobs.ts'
import type { ResultLocation } from '../../storage/jobs/results.ts'
import type { Storage } from '../../storage/storage.ts'
import { toDateTime } from '../lists/date-time.ts'
import { removeMessages, removeMessagesFromChunks } from './remove-messages.ts'

/**
 * A job as JSON text: one string, or, if the result is long, the text around it and a stream of it.
 */
export type JobJson = string | LongJson

/** The receiver reads `body` to its end or destroys it. */
export type LongJson = {
  /** Total size, with the messages. */
  bytes: number
  head: string
  body: Readable
  tail: string
  /** Whether the messages of the result are left out when it is written. */
  omitsMessages: boolean
}

/** Options for the view of a job. */
export type JobJsonOptions = {
  /** Leaves out the messages of a live session. */
  omitMessages?: boolean
  /** Leaves out the whole result, as if there were none. */
  omitResult?: boolean
}

/**
 * Returns a job as JSON text. Its result, which may be megabytes, is passed on as it is stored:
 * nothing is parsed and serialized again. Resolves to undefined if the long result no longer
 * exists, for example because the job was deleted. If the result was replaced after its row was
 * read, the job is read again.
 */
export function toJobJson(
  job: Job,
  storage: Pick<Storage, 'db' | 'objects'>,
  options: JobJsonOptions = {},
): JobJson | Promise<JobJson | undefined> {
  const { omitMessages = false, omitResult = false } = options
  const head = `${viewWithoutResult(job)},"result":`
  const stored = job.result
  const omitsMessages = omitMessages && job.kind === 'live'
  if (stored === null || omitResult) return `${head}null}`
  if ('text' in stored) {
    return `${head}${omitsMessages ? removeMessages(stored.text) : stored.text}}`
  }
  return readLongResult(stored.object)

  async function readLongResult(object: string): Promise<JobJson | undefined> {
    const storedResult = await storage.objects.read(object).catch(ignoreMissingObject)
    if (!storedResult) {
      const currentJob = await findJob(storage.db, job)
      return currentJob && !isSameObject(currentJob.result, { object })
        ? toJobJson(currentJob, storage, options)
        : undefined
    }
    const tail = '}'
    const bytes = Buffer.byteLength(head) + storedResult.size + tail.length
    return { bytes, head, tail, body: storedResult.body, omitsMessages }
  }
}

/** Yields a text in chunks; closes the stream of its result if the reader stops early. */
export async function* writeText({
  head,
  body,
  tail,
  omitsMessages,
}: LongJson): AsyncGenerator<string | Uint8Array> {
  try {
    yield head
    yield* omitsMessages ? removeMessagesFromChunks(body) : body
    yield tail
  } finally {
    body.destroy()
  }
}

function isSameObject(location: ResultLocation | null, otherLocation: { object: string }): boolean {
  return location !== null && 'object' in location && location.object === otherLocation.object
}

function ignoreMissingObject(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'file_not_found')) throw error
}

/**
 * Returns the view of the API, without its closing brace: every key is present, and null while
 * it has no value.
 */
function viewWithoutResult(job: Job): string {
  const { id, file, customMetadata, completedAt } = job
  const ended = completedAt === null ? 'null' : `"${toDateTime(completedAt)}"`
  // These values need no escapes, because this server wrote them, and a template takes a third of
  // the time.
  const state = `"status":"${job.status}","created_at":"${toDateTime(job.createdAt)}","completed_at":${ended}`
  const fields = `{"id":"${id}","request_id":"G-${id.slice(0, 8)}","version":2,${state},"error_code":${job.errorCode},"kind":"${job.kind}","file":${viewOfFile(file)}`
  const metadata = customMetadata === null ? '' : `"custom_metadata":${customMetadata},`
  return `${fields},${metadata}"post_session_metadata":${job.postSessionMetadata},"request_params":${job.requestParams}`
}

function viewOfFile(file: JobFile | null): string {
  return JSON.stringify(
    file && {
      id: file.id,
      filename: file.filename,
      source: file.source,
      audio_duration: file.duration,
      number_of_channels: file.channels,
    },
  )
}
