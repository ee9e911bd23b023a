import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { replacePostSessionMetadata } from '../../storage/jobs.ts'
import { acceptJson } from '../json-body.ts'
import { errorAnswers } from '../schemas/error.ts'
import { IdParams } from '../schemas/job.ts'
import { patchOperation } from '../schemas/live-operations.ts'
import { FreeObject } from '../schemas/values.ts'
import { isObject, problemsError } from '../validation.ts'

const Metadata = Type.Object(
  { post_session_metadata: Type.Optional(FreeObject()) },
  { title: 'PostSessionMetadata', additionalProperties: true },
)

/** What a client tells about a session, also after it has ended (contract 2.11). */
export function liveMetadata({
  config,
  storage,
}: Pick<App, 'config' | 'storage'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    acceptJson(http, { maxBytes: config.http.maxPatchBytes })
    http.patch(
      '/v2/live/:id',
      {
        schema: {
          ...patchOperation,
          params: IdParams,
          body: Metadata,
          response: {
            204: Type.Unsafe<undefined>(Type.Null({ description: 'It is stored' })),
            ...errorAnswers(404, 413, 415),
          },
        },
      },
      async ({ account, body, params: { id } }, reply) => {
        const metadata = JSON.stringify(metadataOf(body))
        const job = { id, account, kind: 'live' } as const
        if (!(await replacePostSessionMetadata(storage.db, job, metadata))) {
          throw new AppError('job_not_found', id)
        }
        return reply.code(204).send()
      },
    )
  }
}

/** The field when there is one, else the body as a whole; null is the same as absent here too. */
function metadataOf(body: unknown): Record<string, unknown> {
  if (body === undefined) throw new AppError('content_type_unsupported', 'there is no body')
  if (!isObject(body)) throw new AppError('body_unreadable', 'it must be a JSON object')
  const { post_session_metadata: given, ...rest } = body
  if (given === undefined || given === null) return rest
  if (isObject(given)) return given
  throw problemsError([{ path: ['post_session_metadata'], rule: 'must be an object' }])
}
