import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { wallNow } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import { failEndpointDeliveries } from '../../../storage/deliveries/deliveries.ts'
import { pageEndpoints } from '../../../storage/deliveries/endpoints/endpoint-list.ts'
import {
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  findEndpoint,
} from '../../../storage/deliveries/endpoints/endpoints.ts'
import { disabledReason } from '../../../storage/deliveries/queue-deliveries.ts'
import {
  accountFilterOf,
  type ResourceRequest,
  requireAccount,
} from '../../auth/require-account.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { pageUrls } from '../../lists/write-list.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { toEndpointView } from '../../responses/endpoint-view.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { endpointOperations } from '../../schemas/webhooks/delivery-operations.ts'
import { EndpointList, EndpointQuery, EndpointView } from '../../schemas/webhooks/endpoint.ts'

const path = '/v2/endpoints'

const list = {
  ...endpointOperations.list,
  querystring: EndpointQuery,
  response: { 200: EndpointList, ...errorResponses(400, 403) },
}
const endpointSchema = { params: IdParams, response: { 200: EndpointView, ...errorResponses(404) } }

/**
 * Lists the endpoints that are notified of an account's jobs, and enables or disables them. With
 * the scope `admin`, requests can access the endpoints of all accounts.
 */
export function endpointRoutes({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  return async (http) => {
    ignoreBodies(http)

    http.get(path, { schema: list }, async ({ account, scopes, query, raw }) => {
      const limit = Math.min(query.limit, config.http.listMaxLimit)
      const listedAccount = requireAccount(query, { account, scopes })
      const filter = { account: listedAccount, kinds: query.kind, statuses: query.status }
      const pageRequest = { offset: query.offset, limit }
      const page = await runInTurn(account, () => pageEndpoints(db, filter, pageRequest))
      const urls = pageUrls(`${baseUrlOf(raw, config.http)}${path}`, query, { limit, page })
      return { ...urls, items: page.endpoints.map(toEndpointView) }
    })

    http.get(
      `${path}/:id`,
      { schema: { ...endpointOperations.get, ...endpointSchema } },
      async (request) => toEndpointView(await requireEndpoint(request)),
    )

    http.post(
      `${path}/:id/enable`,
      { schema: { ...endpointOperations.enable, ...endpointSchema } },
      async (request) => {
        const { id } = await requireEndpoint(request)
        await enableEndpoint(db, id)
        return toEndpointView(await requireEndpoint(request))
      },
    )

    http.post(
      `${path}/:id/disable`,
      { schema: { ...endpointOperations.disable, ...endpointSchema } },
      async (request) => {
        const { id, account } = await requireEndpoint(request)
        const at = wallNow()
        const by = account === request.account ? 'account' : 'operator'
        await disableEndpoint(db, id, { reason: `by the ${by}`, at })
        const endpoint = await requireEndpoint(request)
        // This also runs for an endpoint that is already disabled, because an earlier request may
        // have been interrupted before it.
        const reason = disabledReason(endpoint.disabledReason)
        await failEndpointDeliveries(db, id, { reason, at })
        return toEndpointView(endpoint)
      },
    )
  }

  async function requireEndpoint(request: ResourceRequest): Promise<Endpoint> {
    const { id } = request.params
    const endpoint = await findEndpoint(db, { id, account: accountFilterOf(request) })
    if (!endpoint) throw new AppError('endpoint_not_found', id)
    return endpoint
  }
}
