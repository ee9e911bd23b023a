import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import type { SessionToken } from '../../../storage/live/session-tokens.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { readIdempotencyKey } from '../../bodies/idempotency.ts'
import { toValidRequest } from '../../bodies/submission/to-submission.ts'
import { baseUrlOf, liveUrl } from '../../responses/urls.ts'
import { setWarnings } from '../../responses/warnings.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { CreationHeaders } from '../../schemas/common/operations.ts'
import { CreatedSession } from '../../schemas/jobs/job.ts'
import { liveCreationOperation } from '../../schemas/live/live-operations.ts'
import { liveRequest } from '../../schemas/live/live-request.ts'

/** Creates a live session, and responds as soon as its job is stored. */
export function liveCreation({
  config,
  live,
  bodies,
}: Pick<App, 'config' | 'live'> & { bodies: BodyReader }): FastifyPluginAsyncTypebox {
  const requestBody = liveRequest(config)
  return async (http) => {
    http.post(
      '/v2/live',
      {
        schema: {
          ...liveCreationOperation,
          headers: CreationHeaders,
          body: requestBody,
          response: { 201: CreatedSession, ...errorResponses(402, 413, 415, 422) },
        },
      },
      async (request, reply) => {
        const { account, keyHash, keyId, headers, log, raw } = request
        const base = baseUrlOf(raw, config.http)
        const respond = ({ id, createdAt, token }: SessionToken) => {
          const created_at = new Date(createdAt).toISOString()
          return reply.code(201).send({ id, created_at, url: liveUrl(base, token, config.http) })
        }
        const key = readIdempotencyKey(headers)
        const creation = await bodies.read('live', request, { wantsFingerprint: key !== undefined })
        const { fingerprint = '' } = creation
        setWarnings(reply, creation)
        const idempotency = key === undefined ? undefined : { account, key, fingerprint }
        // This precedes all other checks, because a request that was valid then may no longer be
        // valid.
        const repeated = idempotency && (await live.findByIdempotencyKey(idempotency))
        if (repeated) return respond(repeated)
        const submission = toValidRequest(creation)
        const session = await live.create(account, { ...submission, idempotency, keyHash, keyId })
        setWarnings(reply, creation, live.warningsOf(submission))
        log.info({ sessionId: session.id }, 'live session created')
        return respond(session)
      },
    )
  }
}
