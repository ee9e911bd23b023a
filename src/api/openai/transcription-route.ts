import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../app/app-type.ts'
import { AppError, errorOfFailure } from '../../errors.ts'
import type { Job } from '../../storage/jobs/jobs.ts'
import type { OpenAiFormat } from '../../text/formats/openai.ts'
import type { BodyReader } from '../bodies/body-reader.ts'
import { readAudioPart } from '../bodies/receiving/multipart/audio-part.ts'
import { formOptions } from '../bodies/receiving/multipart/form-stream.ts'
import { toSubmission } from '../bodies/submission/to-submission.ts'
import { disconnectSignal } from '../middleware/disconnect-signal.ts'
import { markDeliveredWhenSent } from '../responses/mark-delivered.ts'
import { baseUrlOf, fileUrl } from '../responses/urls.ts'
import { modelNames } from '../schemas/models/model-names.ts'
import { transcriptionOperation, translationOperation } from '../schemas/openai/openai.ts'
import { toOpenAiError } from './errors.ts'
import { readTranscriptionRequest, type TranscriptionRequest } from './request.ts'

const types = {
  openai: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
} as const

/**
 * The interval of comments in a stream: proxies close a connection without traffic after a minute.
 */
const COMMENT_MS = 15_000

/** The parts of the server that the routes use. */
type TranscriptionDeps = Pick<App, 'config' | 'storage' | 'jobs'> & { bodies: BodyReader }

/**
 * Serves OpenAI's transcription API, and translation into English: stores the file, creates a job,
 * and responds when the job has ended. If the client disconnects first, its job is canceled.
 */
export function transcriptionRoute(app: TranscriptionDeps): FastifyPluginAsyncTypebox {
  return async (http) => {
    await http.register(multipart, formOptions)
    http.post('/v1/audio/transcriptions', { schema: transcriptionOperation }, respond('transcribe'))
    http.post('/v1/audio/translations', { schema: translationOperation }, respond('translate'))
  }

  function respond(task: OpenAiFormat['task']) {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const signal = disconnectSignal(reply)
      const { fileId, requested } = await receiveForm(request, { task, signal }, app)
      const { id } = await submit(request, { fileId, requested }, app)
      // The client waits in silence, for longer than an idle connection is kept.
      request.raw.socket.setTimeout(0)
      const job = { id, account: request.account }
      const response = waitUntilEnded(app, job, signal).then((endedJob) =>
        writeTranscription(app, endedJob, requested),
      )
      markDeliveredWhenSent(app.jobs, reply, job)
      if (requested.form.stream) {
        reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-cache')
        return reply.send(Readable.from(streamEvents(response)) as never)
      }
      const isText = requested.format === 'openai' && requested.form.shape === 'text'
      const text = (await response) as string
      return reply.type(types[isText ? 'text' : requested.format]).send(text)
    }
  }
}

/** Stores the file of a form, and reads its other fields. */
async function receiveForm(
  request: FastifyRequest,
  { task, signal }: { task: OpenAiFormat['task']; signal: AbortSignal },
  { config, jobs }: Pick<App, 'config' | 'jobs'>,
) {
  const fields = new Map<string, string[]>()
  if (!request.isMultipart())
    throw new AppError('content_type_unsupported', 'send the file as multipart/form-data')
  const part = await readAudioPart(request, {
    name: 'file',
    onText(field, text) {
      const name = field.replace(/\[\]$/, '')
      fields.set(name, [...(fields.get(name) ?? []), text])
    },
  })
  const file = await jobs.service.upload(request.account, { ...part, signal })
  return {
    fileId: file.id,
    requested: readTranscriptionRequest(fields, { task, models: modelNames(config.models) }),
  }
}

async function submit(
  { account, keyId, raw, log }: FastifyRequest,
  { fileId, requested }: { fileId: string; requested: TranscriptionRequest },
  app: TranscriptionDeps,
): Promise<{ id: string }> {
  const base = baseUrlOf(raw, app.config.http)
  const body = { audio_url: fileUrl(base, fileId), ...requested.creation }
  const bytes = Buffer.from(JSON.stringify(body))
  const creation = await app.bodies.read('pre-recorded', { account, body: bytes })
  const submission = await toSubmission(creation, { account, bases: [base] }, app)
  const job = await app.jobs.service.submit(account, { ...submission, keyId })
  log.info({ jobId: job.id }, 'job created')
  return job
}

/** Resolves to a job when it has ended; cancels it if the client disconnects before. */
async function waitUntilEnded(
  { jobs }: Pick<App, 'jobs'>,
  { id, account }: Pick<Job, 'id' | 'account'>,
  signal: AbortSignal,
): Promise<Job> {
  try {
    return await jobs.service.whenEnded({ id, account }, signal)
  } catch (error) {
    // The client has disconnected. The job may have ended in the meantime.
    if (signal.aborted) await jobs.service.cancel({ id, account }).catch(() => {})
    throw error
  }
}

/** Returns the transcript of a job that has ended, in the form that the client requested. */
async function writeTranscription(
  { jobs }: Pick<App, 'jobs'>,
  job: Job,
  { format, form }: TranscriptionRequest,
) {
  if (job.status === 'error') {
    const { failure } = JSON.parse(job.postSessionMetadata) as { failure: { message: string } }
    throw errorOfFailure(failure.message)
  }
  const translation = form.task === 'translate' ? 'en' : undefined
  const shape =
    format === 'openai' ? { format, ...form } : { format, speakers: false, words: false }
  const transcriptForm = { ...shape, translation, isEdited: false }
  return jobs.service.transcript({ id: job.id, account: job.account }, transcriptForm)
}

/**
 * Yields comments until the events are available, then the events. An error becomes an event,
 * because the status line has already been sent.
 */
async function* streamEvents(
  events: Promise<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  const settled = events.catch((error: unknown) => {
    const appError = error instanceof AppError ? error : new AppError('internal')
    return `data: ${JSON.stringify(toOpenAiError(appError))}\n\n`
  })
  for (;;) {
    yield ': the recording is being transcribed\n\n'
    const text = await Promise.race([settled, wait(COMMENT_MS, undefined, { ref: false })])
    if (text === undefined) continue
    yield text
    return
  }
}
