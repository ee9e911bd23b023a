import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { AddOnAnswer } from '../../schemas/jobs/job-results.ts'

/** Any text is accepted: one that is not an id or an add-on is not found. */
const AddOnParams = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'The switch that requests the add-on, such as `subtitles`' }),
})

/** Retries a failed add-on of a recorded job, without recognition. An extension of the API. */
export function addOnRetryRoute({ jobs }: Pick<App, 'jobs'>): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  return async (http) => {
    ignoreBodies(http)
    http.post(
      '/v2/pre-recorded/:id/addons/:name/retry',
      {
        schema: {
          tags: ['Pre-recorded'],
          operationId: 'retryPreRecordedAddOn',
          summary: 'Retry a failed add-on',
          description:
            'Repeats an add-on of a job that is `done`, from the words of its result and without recognition. Returns ' +
            'what the result then contains, even if the add-on failed again. Nothing else of the job changes, and no callback or ' +
            'webhook is sent. Steps that change the words (such as `custom_spelling`) and `diarization` cannot be ' +
            'retried. Reads no body.',
          params: AddOnParams,
          response: {
            200: Type.Unsafe<string>(AddOnAnswer),
            ...errorResponses(404, 422),
          },
        },
      },
      async ({ account, params: { id, name } }, reply) => {
        // The add-ons of an account run one at a time, because many at once would delay the jobs of
        // other accounts.
        const addOn = { id, account, kind: 'pre-recorded', name } as const
        const result = await runInTurn(account, () => jobs.service.retryAddOn(addOn))
        return reply.type('application/json; charset=utf-8').send(result)
      },
    )
  }
}
