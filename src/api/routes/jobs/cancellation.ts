import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams } from '../../schemas/jobs/job.ts'

/** Cancels a recorded job that has not ended. Our extension of the API. */
export function cancellationRoute({ jobs }: Pick<App, 'jobs'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    ignoreBodies(http)
    http.post(
      '/v2/pre-recorded/:id/cancel',
      {
        schema: {
          tags: ['Pre-recorded'],
          operationId: 'cancelPreRecorded',
          summary: 'Cancel a pre-recorded job',
          description:
            'Ends a job that waits or runs: its `status` becomes `error`, its `error_code` 499, and ' +
            '`post_session_metadata.failure.reason` `cancelled`. It can then be deleted. Reads no body.',
          params: IdParams,
          response: {
            202: Type.Unsafe<undefined>(Type.Null({ description: 'It has ended' })),
            ...errorResponses(404, 422),
          },
        },
      },
      async ({ account, params: { id } }, reply) => {
        await jobs.service.cancel({ id, account, kind: 'pre-recorded' })
        return reply.code(202).send()
      },
    )
  }
}
