import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { failEndpointDeliveries } from '../../storage/deliveries.ts'
import {
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  findEndpoint,
  listEndpoints,
} from '../../storage/endpoints.ts'
import { disabledReason } from '../../storage/outbox.ts'
import { toEndpointView } from '../endpoint-view.ts'
import { ignoreBodies } from '../json-body.ts'
import { endpointOperations } from '../schemas/delivery-operations.ts'
import { EndpointList, EndpointView } from '../schemas/endpoint.ts'
import { errorAnswers } from '../schemas/error.ts'
import { IdParams } from '../schemas/job.ts'

const path = '/v2/endpoints'

/** Who is told of an account's jobs, and whether anything is sent there. */
export function endpointRoutes({
  storage: { db },
}: Pick<App, 'storage'>): FastifyPluginAsyncTypebox {
  const one = { params: IdParams, response: { 200: EndpointView, ...errorAnswers(404) } }
  return async (http) => {
    ignoreBodies(http)

    http.get(
      path,
      { schema: { ...endpointOperations.list, response: { 200: EndpointList } } },
      async ({ account }) => {
        return { items: (await listEndpoints(db, { account })).map(toEndpointView) }
      },
    )

    http.get(
      `${path}/:id`,
      { schema: { ...endpointOperations.get, ...one } },
      async ({ account, params: { id } }) => toEndpointView(await requireEndpoint({ id, account })),
    )

    http.post(
      `${path}/:id/enable`,
      { schema: { ...endpointOperations.enable, ...one } },
      async ({ account, params: { id } }) => {
        await requireEndpoint({ id, account })
        await enableEndpoint(db, id)
        return toEndpointView(await requireEndpoint({ id, account }))
      },
    )

    http.post(
      `${path}/:id/disable`,
      { schema: { ...endpointOperations.disable, ...one } },
      async ({ account, params: { id } }) => {
        await requireEndpoint({ id, account })
        const at = Date.now()
        await disableEndpoint(db, id, { reason: 'by the account', at })
        const endpoint = await requireEndpoint({ id, account })
        // Again, if it was disabled already: whoever did so may have been stopped before this.
        const reason = disabledReason(endpoint.disabledReason)
        await failEndpointDeliveries(db, id, { reason, at })
        return toEndpointView(endpoint)
      },
    )
  }

  async function requireEndpoint(asked: { id: string; account: string }): Promise<Endpoint> {
    const endpoint = await findEndpoint(db, asked)
    if (!endpoint) throw new AppError('endpoint_not_found', asked.id)
    return endpoint
  }
}
