import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { JobRef } from '../../../storage/jobs/jobs.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams } from '../../schemas/jobs/job.ts'

type CancellationOptions = { kind: 'pre-recorded' | 'live'; cancel(job: JobRef): Promise<void> }

const ENDED =
  'its `status` becomes `error`, its `error_code` 499, and `post_session_metadata.failure.reason` ' +
  '`cancelled`. It can then be deleted. Reads no body.'
const texts = {
  'pre-recorded': {
    tags: ['Pre-recorded'],
    operationId: 'cancelPreRecorded',
    summary: 'Cancel a pre-recorded job',
    description: `Ends a job that waits or runs: ${ENDED}`,
  },
  live: {
    tags: ['Live'],
    operationId: 'cancelLive',
    summary: 'Cancel a live session',
    description:
      'Ends a session at once, connected or not, without what remains of its transcript and without ' +
      `its result: ${ENDED} The socket closes with 4410. What was recorded stays, unless another ` +
      'node ran the session. To end a session with its result, send `stop_recording`.',
  },
}

/** Cancels a job that has not ended. An extension of the API. */
export function cancellationRoute({
  kind,
  cancel,
}: CancellationOptions): FastifyPluginAsyncTypebox {
  return async (http) => {
    ignoreBodies(http)
    http.post(
      `/v2/${kind}/:id/cancel`,
      {
        schema: {
          ...texts[kind],
          params: IdParams,
          response: {
            202: Type.Unsafe<undefined>(Type.Null({ description: 'The job has ended' })),
            ...errorResponses(404, 422),
          },
        },
      },
      async ({ account, params: { id } }, reply) => {
        await cancel({ id, account, kind })
        return reply.code(202).send()
      },
    )
  }
}
