import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { wallNow } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import { findDelivery } from '../../../storage/deliveries/delivery-log.ts'
import { resendDelivery, resendFailed } from '../../../storage/deliveries/resending.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { parseDateTime } from '../../lists/date-time.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { findDeliveryView } from '../../responses/delivery-view.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { DeliveryView } from '../../schemas/webhooks/delivery.ts'
import { deliveryOperations } from '../../schemas/webhooks/delivery-operations.ts'
import { ResendRequest, Resent } from '../../schemas/webhooks/resend-request.ts'
import { addRoutes } from '../add-routes.ts'

type Deps = Pick<App, 'storage' | 'delivery'> & { bodies: BodyReader }

/** Sends events to receivers again: one event, or all that they missed. */
export function resendingRoutes(app: Deps): FastifyPluginAsyncTypebox {
  return async (http) => {
    await addRoutes(http, resendFailedRoute(app))
    await http.register(resendRoute(app))
  }
}

function resendFailedRoute({ bodies, storage, delivery }: Deps): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  return async (http) => {
    http.post(
      '/v2/deliveries/resend',
      {
        schema: {
          ...deliveryOperations.resendFailed,
          body: ResendRequest,
          response: { 202: Resent, ...errorResponses(413, 415) },
        },
      },
      async (request, reply) => {
        const { account } = request
        const requested = await bodies.read('resend', request)
        const { since, endpoint_id: endpointId } = requested
        const jobId = requested.job_id?.toLowerCase()
        const failed = { account, endpointId, jobId, since: parseDateTime(since)!, at: wallNow() }
        const resent = await runInTurn(account, () => resendFailed(storage.db, failed))
        delivery.wake()
        return reply.code(202).send({ resent })
      },
    )
  }
}

function resendRoute({ storage: { db }, delivery }: Deps): FastifyPluginAsyncTypebox {
  return async (http) => {
    ignoreBodies(http)
    http.post(
      '/v2/deliveries/:id/resend',
      {
        schema: {
          ...deliveryOperations.resend,
          params: IdParams,
          response: { 202: DeliveryView, ...errorResponses(404, 422) },
        },
      },
      async ({ account, params: { id } }, reply) => {
        const foundDelivery = await findDelivery(db, { id, account })
        if (!foundDelivery) throw new AppError('delivery_not_found', id)
        const outcome = await resendDelivery(db, { id, account, at: wallNow() })
        if (outcome === 'disabled') {
          const remedy = `POST /v2/endpoints/${foundDelivery.endpointId}/enable enables it`
          throw new AppError('endpoint_disabled', remedy)
        }
        if (outcome === 'gone') throw new AppError('endpoint_gone', foundDelivery.endpointId)
        delivery.wake()
        return reply.code(202).send(await findDeliveryView(db, { id, account }))
      },
    )
  }
}
