import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { wallNow } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import { findJob, type Job } from '../../../storage/jobs/jobs.ts'
import { findShare, type Share } from '../../../storage/jobs/shares.ts'
import { sha256 } from '../../auth/check-key.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { toDateTime } from '../../lists/date-time.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { createRateLimit } from '../../middleware/rate-limit.ts'
import { findJobFile } from '../../responses/files/job-file.ts'
import { mediaTypeOf } from '../../responses/files/media-types.ts'
import { type SentFile, sendFile } from '../../responses/files/send-file.ts'
import {
  type CaptionStreams,
  captionResponses,
  captionsDescription,
  isOpenSession,
} from '../../responses/streams/caption-streams.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { downloadResponses, RangeHeaders } from '../../schemas/common/operations.ts'
import { Type } from '../../schemas/common/type.ts'
import { SharedView } from '../../schemas/transcripts/share.ts'
import { addRoutes } from '../add-routes.ts'

const SecretParams = Type.Object({
  secret: Type.String({ description: 'The secret: the last part of the link’s address' }),
})

const publicRoute = { tags: ['Server'], security: [], params: SecretParams }

const transcriptForm = { format: 'json', words: true, speakers: true } as const

/** The dependencies of the routes for links, with the function that finds the job of a link. */
type SharedRouteDeps = Pick<App, 'config' | 'storage' | 'jobs'> & {
  findShared(secret: string): Promise<{ share: Share; job: Job }>
}

/** Shows one job to anyone with a link to it, and nothing else. An extension of the API. */
export function sharedRoutes(
  app: Pick<App, 'config' | 'storage' | 'jobs'>,
  captions: CaptionStreams,
): FastifyPluginAsyncTypebox {
  const deps = { ...app, findShared: createFindShared(app) }
  return async (http) => {
    ignoreBodies(http)
    http.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      reply.header('referrer-policy', 'no-referrer')
      reply.header('x-robots-tag', 'noindex, nofollow')
      reply.header('x-content-type-options', 'nosniff')
      reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
    })
    await addRoutes(http, viewRoute(deps), captionsRoute(deps, captions), fileRoute(deps))
  }
}

/** Finds the job of a link by its secret, within the rate limit of the link. */
function createFindShared({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): SharedRouteDeps['findShared'] {
  const takeToken = config.http.rateLimit && createRateLimit(config.http.rateLimit)
  return async (secret) => {
    const hash = sha256(secret).toString('hex')
    const share = await findShare(db, hash, { now: wallNow() })
    if (!share) throw new AppError('share_not_found', 'it has expired or was ended')
    takeToken?.(hash)
    const job = await findJob(db, { id: share.jobId, account: share.account })
    // A session may fail after the link to it was created.
    if (!job || job.status === 'error') {
      throw new AppError('share_not_found', 'there is nothing to show')
    }
    return { share, job }
  }
}

function viewRoute({ storage, jobs, findShared }: SharedRouteDeps): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  const schema = {
    ...publicRoute,
    operationId: 'getShared',
    summary: 'Get the transcript behind a link',
    description:
      'Returns the transcript of one job to anyone with the link. Needs no key, and reveals no id. An extension.',
    response: { 200: Type.Unsafe<string>(SharedView), ...errorResponses(404, 429) },
  }

  async function hasAudio(job: Job): Promise<boolean> {
    try {
      await findAudio(storage, job)
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'file_not_found') return false
      throw error
    }
  }

  return async (http) => {
    http.get('/v2/shared/:secret', { schema }, async ({ params: { secret } }, reply) => {
      const { share, job } = await findShared(secret)
      const { id, account, file } = job
      const isLive = isOpenSession(job)
      const transcript = isLive
        ? '{"utterances":[]}'
        : await runInTurn(account, () => {
            const options = { ...transcriptForm, isEdited: share.isEdited }
            return jobs.service.transcript({ id, account }, options)
          })
      // The name of a file often reveals who speaks.
      const name = isRedacted(job) ? null : (file?.filename ?? null)
      const head = JSON.stringify({
        name,
        kind: job.kind,
        created_at: toDateTime(job.createdAt),
        audio_duration: file?.duration ?? null,
        has_audio: await hasAudio(job),
        expires_at: toDateTime(share.expiresAt),
        is_live: isLive,
      })
      reply.type('application/json; charset=utf-8')
      return reply.send(`${head.slice(0, -1)},"transcript":${transcript}}`)
    })
  }
}

function captionsRoute(
  { storage: { db }, findShared }: SharedRouteDeps,
  captions: CaptionStreams,
): FastifyPluginAsyncTypebox {
  const schema = {
    ...publicRoute,
    operationId: 'getSharedCaptions',
    summary: 'Stream the captions behind a link',
    description: captionsDescription,
    response: captionResponses,
  }
  return async (http) => {
    http.get('/v2/shared/:secret/captions', { schema }, async (request, reply) => {
      const { secret } = request.params
      const { job } = await findShared(secret)
      const hash = sha256(secret).toString('hex')
      const isAllowed = async () => (await findShare(db, hash, { now: wallNow() })) !== undefined
      return captions.open(job, { request, reply, isAllowed })
    })
  }
}

function fileRoute({ storage, findShared }: SharedRouteDeps): FastifyPluginAsyncTypebox {
  const schema = {
    ...publicRoute,
    operationId: 'getSharedFile',
    summary: 'Download the recording behind a link',
    description:
      'Returns the recording; for a redacted job, only the redacted one, if there is one. Supports one byte range. An extension.',
    headers: RangeHeaders,
    response: {
      ...downloadResponses(['audio/*', 'video/*', 'application/octet-stream']),
      ...errorResponses(429),
    },
  }
  return async (http) => {
    http.get('/v2/shared/:secret/file', { schema }, async (request, reply) => {
      const { job } = await findShared(request.params.secret)
      const file = await findAudio(storage, job)
      const contentType = mediaTypeOf(file.extension)
      return sendFile(request, reply, { file, contentType, objects: storage.objects })
    })
  }
}

/** Finds the audio of a job; the recording may contain what the transcript hides. */
function findAudio({ db }: Pick<App['storage'], 'db'>, job: Job): Promise<SentFile> {
  return findJobFile(job, { db, redacted: isRedacted(job) })
}

function isRedacted(job: Job): boolean {
  const { pii_redaction } = JSON.parse(job.requestParams ?? '{}') as { pii_redaction?: boolean }
  return pii_redaction === true
}
