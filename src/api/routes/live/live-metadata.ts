import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { replacePostSessionMetadata } from '../../../storage/jobs/jobs.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { acceptJson, bodyTooLarge } from '../../bodies/receiving/json-body.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { MAX_METADATA_KEY_CHARS, MAX_METADATA_KEYS } from '../../schemas/common/limits.ts'
import { Type } from '../../schemas/common/type.ts'
import { FreeObject } from '../../schemas/common/values.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { patchOperation } from '../../schemas/live/live-operations.ts'

const bounds = {
  maxProperties: MAX_METADATA_KEYS,
  propertyNames: { maxLength: MAX_METADATA_KEY_CHARS },
}
const Metadata = Type.Object(
  { post_session_metadata: Type.Optional(FreeObject(undefined, bounds)) },
  { title: 'PostSessionMetadata', additionalProperties: true, ...bounds },
)

/** Stores the metadata that a client sends for a session, even after the session has ended. */
export function liveMetadata({
  config,
  storage,
  bodies,
}: Pick<App, 'config' | 'storage'> & { bodies: BodyReader }): FastifyPluginAsyncTypebox {
  const limit = { maxBytes: config.http.maxPatchBytes, setting: 'STENO_MAX_PATCH_BYTES' }
  return async (http) => {
    acceptJson(http, limit)
    http.patch(
      '/v2/live/:id',
      {
        schema: {
          ...patchOperation,
          params: IdParams,
          body: Metadata,
          response: {
            204: Type.Unsafe<undefined>(Type.Null({ description: 'The metadata is stored' })),
            ...errorResponses(404, 413, 415),
          },
        },
      },
      async (request, reply) => {
        const { account, params } = request
        const { id } = params
        const { text: metadata } = await bodies.read('post-session-metadata', request)
        // Numbers are written out: 1e20 has four characters in the request, and 21 when it is
        // stored.
        if (Buffer.byteLength(metadata) > limit.maxBytes) throw bodyTooLarge(limit)
        const job = { id, account, kind: 'live' } as const
        if (!(await replacePostSessionMetadata(storage.db, job, metadata))) {
          throw new AppError('job_not_found', id)
        }
        return reply.code(204).send()
      },
    )
  }
}
