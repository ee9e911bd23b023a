import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { wallNow } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { App } from '../../server-parts.ts'
import { failEndpointDeliveries } from '../../storage/deliveries/deliveries.ts'
import { disabledReason } from '../../storage/deliveries/delivery-outbox.ts'
import { pageEndpoints } from '../../storage/deliveries/endpoint-list.ts'
import {
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  findEndpoint,
} from '../../storage/deliveries/endpoints.ts'
import { toEndpointView } from '../answers/endpoint-view.ts'
import { baseUrlOf } from '../answers/urls.ts'
import { ignoreBodies } from '../bodies/json-body.ts'
import { limitByKey } from '../limit-by-key.ts'
import { pageUrls } from '../lists/job-list.ts'
import { errorAnswers } from '../schemas/error.ts'
import { IdParams } from '../schemas/jobs/job.ts'
import { endpointOperations } from '../schemas/webhooks/delivery-operations.ts'
import { EndpointList, EndpointQuery, EndpointView } from '../schemas/webhooks/endpoint.ts'

const path = '/v2/endpoints'

/** Lists the endpoints that are notified of an account's jobs, and enables or disables them. */
export function endpointRoutes({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): FastifyPluginAsyncTypebox {
  const inTurn = limitByKey()
  const one = { params: IdParams, response: { 200: EndpointView, ...errorAnswers(404) } }
  return async (http) => {
    ignoreBodies(http)

    http.get(
      path,
      {
        schema: {
          ...endpointOperations.list,
          querystring: EndpointQuery,
          response: { 200: EndpointList, ...errorAnswers(400) },
        },
      },
      async ({ account, query, raw }) => {
        const limit = Math.min(query.limit, config.http.listMaxLimit)
        const filter = { account, kinds: query.kind, statuses: query.status }
        const part = { offset: query.offset, limit }
        const page = await inTurn(account, () => pageEndpoints(db, filter, part))
        const urls = pageUrls(`${baseUrlOf(raw, config.http)}${path}`, query, { limit, page })
        return { ...urls, items: page.endpoints.map(toEndpointView) }
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
        const at = wallNow()
        await disableEndpoint(db, id, { reason: 'by the account', at })
        const endpoint = await requireEndpoint({ id, account })
        // Repeated even for a disabled endpoint: an earlier attempt may have been interrupted
        // before this.
        const reason = disabledReason(endpoint.disabledReason)
        await failEndpointDeliveries(db, id, { reason, at })
        return toEndpointView(endpoint)
      },
    )
  }

  async function requireEndpoint(requested: { id: string; account: string }): Promise<Endpoint> {
    const endpoint = await findEndpoint(db, requested)
    if (!endpoint) throw new AppError('endpoint_not_found', requested.id)
    return endpoint
  }
}
