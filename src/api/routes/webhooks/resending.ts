import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { wallNow } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import type { App } from '../../../server-parts.ts'
import { findDelivery } from '../../../storage/deliveries/delivery-log.ts'
import { resendDelivery, resendFailed } from '../../../storage/deliveries/resending.ts'
import { findDeliveryView } from '../../answers/delivery-view.ts'
import type { Bodies } from '../../bodies/bodies.ts'
import { ignoreBodies } from '../../bodies/json-body.ts'
import { limitByKey } from '../../limit-by-key.ts'
import { parseMoment } from '../../lists/moments.ts'
import { errorAnswers } from '../../schemas/error.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { DeliveryView } from '../../schemas/webhooks/delivery.ts'
import { deliveryOperations } from '../../schemas/webhooks/delivery-operations.ts'
import { ResendRequest, Resent } from '../../schemas/webhooks/resend-request.ts'

type Parts = Pick<App, 'storage' | 'delivery'> & { bodies: Bodies }

/** Notifies receivers again: of one event, or of all that they missed. */
export function resendingRoutes(app: Parts): FastifyPluginAsyncTypebox {
  return async (http) => {
    await http.register(resendFailedRoute(app))
    await http.register(resendRoute(app))
  }
}

function resendFailedRoute({ bodies, storage, delivery }: Parts): FastifyPluginAsyncTypebox {
  const inTurn = limitByKey()
  return async (http) => {
    http.post(
      '/v2/deliveries/resend',
      {
        schema: {
          ...deliveryOperations.resendFailed,
          body: ResendRequest,
          response: { 202: Resent, ...errorAnswers(413, 415) },
        },
      },
      async (request, reply) => {
        const { account } = request
        const requested = await bodies.read('resend', request)
        const { since, endpoint_id: endpointId, job_id: jobId } = requested
        const failed = { account, endpointId, jobId, since: parseMoment(since)!, at: wallNow() }
        const resent = await inTurn(account, () => resendFailed(storage.db, failed))
        delivery.wake()
        return reply.code(202).send({ resent })
      },
    )
  }
}

function resendRoute({ storage: { db }, delivery }: Parts): FastifyPluginAsyncTypebox {
  return async (http) => {
    ignoreBodies(http)
    http.post(
      '/v2/deliveries/:id/resend',
      {
        schema: {
          ...deliveryOperations.resend,
          params: IdParams,
          response: { 202: DeliveryView, ...errorAnswers(404, 422) },
        },
      },
      async ({ account, params: { id } }, reply) => {
        const known = await findDelivery(db, { id, account })
        if (!known) throw new AppError('delivery_not_found', id)
        const outcome = await resendDelivery(db, { id, account, at: wallNow() })
        if (outcome === 'disabled') {
          const remedy = `POST /v2/endpoints/${known.endpointId}/enable enables it`
          throw new AppError('endpoint_disabled', remedy)
        }
        if (outcome === 'gone') throw new AppError('endpoint_gone', known.endpointId)
        delivery.wake()
        return reply.code(202).send(await findDeliveryView(db, { id, account }))
      },
    )
  }
}
