import { randomBytes, randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { wallNow } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import { findJob, type JobKind, type JobRef } from '../../../storage/jobs/jobs.ts'
import { deleteShare, insertShare, listShares, type Share } from '../../../storage/jobs/shares.ts'
import { keyNameOf, sha256 } from '../../auth/check-key.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { acceptJson } from '../../bodies/receiving/json-body.ts'
import { toDateTime } from '../../lists/date-time.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { jobOperations } from '../../schemas/common/operations.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { CreatedShare, ShareList, ShareRequest } from '../../schemas/transcripts/share.ts'

/** Many times the length of a number and a flag. */
const MAX_BODY_BYTES = 4096

/** Any text is accepted: one that is not an id is not found. */
const ShareParams = Type.Object({ id: Type.String(), share: Type.String() })

function shareSchemas(kind: JobKind | undefined) {
  const operations = jobOperations(kind)
  return {
    create: {
      ...operations.share,
      params: IdParams,
      body: ShareRequest,
      response: { 201: CreatedShare, ...errorResponses(404, 413, 415, 422) },
    },
    list: {
      ...operations.shares,
      params: IdParams,
      response: { 200: ShareList, ...errorResponses(404) },
    },
    remove: {
      ...operations.unshare,
      params: ShareParams,
      response: {
        204: Type.Unsafe<undefined>(Type.Null({ description: 'The link no longer works' })),
        ...errorResponses(404),
      },
    },
  }
}

/** Creates, lists and deletes links that show a job without a key. An extension of the API. */
export function shareRoutes(
  { config, storage, bodies }: Pick<App, 'config' | 'storage'> & { bodies: BodyReader },
  { path, kind }: { path: string; kind?: JobKind },
): FastifyPluginAsyncTypebox {
  const { create, list, remove } = shareSchemas(kind)
  const { db } = storage

  /**
   * Rejects unless a link can show the job: a finished job, or the captions of a session that still
   * runs.
   */
  async function requireShareable(ref: JobRef): Promise<void> {
    const job = await findJob(db, ref)
    if (!job) throw new AppError('job_not_found', ref.id)
    const isOpen = job.kind === 'live' && job.status !== 'error'
    if (job.status !== 'done' && !isOpen) throw new AppError('job_not_done', `it is ${job.status}`)
  }

  return async (http) => {
    acceptJson(http, { maxBytes: MAX_BODY_BYTES })
    http.post(`${path}/:id/share`, { schema: create }, async (request, reply) => {
      const { account, keyHash, params, raw } = request
      const { expires_in_s: seconds, edited } = await bodies.read('share', request)
      await requireShareable({ id: params.id, account, kind })
      const secret = randomBytes(32).toString('base64url')
      const createdAt = wallNow()
      const share = {
        id: randomUUID(),
        account,
        jobId: params.id,
        isEdited: edited,
        createdAt,
        expiresAt: createdAt + seconds * 1000,
        keyName: await keyNameOf(db, keyHash),
      }
      const stored = await insertShare(db, { ...share, hash: sha256(secret).toString('hex') })
      if (stored === 'gone') throw new AppError('job_not_found', params.id)
      if (stored === 'full') throw new AppError('too_many_shares')
      // Browsers do not send the part of a URL after `#`, so the secret gets neither into logs nor
      // to other sites.
      const url = `${baseUrlOf(raw, config.http)}/#/shared/${secret}`
      reply.header('cache-control', 'no-store')
      return reply.code(201).send({ ...viewShare(share), url })
    })

    http.get(`${path}/:id/shares`, { schema: list }, async ({ account, params: { id } }) => {
      const job = { id, account, kind }
      if (!(await findJob(db, job))) throw new AppError('job_not_found', id)
      const shares = await listShares(db, { jobId: id, account }, { now: wallNow() })
      return { items: shares.map(viewShare) }
    })

    http.delete(`${path}/:id/shares/:share`, { schema: remove }, async (request, reply) => {
      const { account, params } = request
      const job = await findJob(db, { id: params.id, account, kind })
      if (!job) throw new AppError('job_not_found', params.id)
      const share = { id: params.share, jobId: params.id, account }
      if (!(await deleteShare(db, share))) throw new AppError('share_not_found', params.share)
      return reply.code(204).send()
    })
  }
}

function viewShare({ id, createdAt, expiresAt, isEdited, keyName }: Omit<Share, 'hash'>) {
  const times = { created_at: toDateTime(createdAt), expires_at: toDateTime(expiresAt) }
  return { id, ...times, edited: isEdited, key_name: keyName }
}
