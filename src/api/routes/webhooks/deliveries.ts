import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import {
  findAttempts,
  type LoggedDelivery,
  listDeliveries,
} from '../../../storage/deliveries/delivery-log.ts'
import { groupByAttempts } from '../../lists/attempt-groups.ts'
import { periodOf } from '../../lists/list-query.ts'
import { sendList } from '../../lists/send-list.ts'
import { type LazyText, pageUrls, writeList } from '../../lists/write-list.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { findDeliveryView, toDeliveryView } from '../../responses/delivery-view.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { DeliveryList, DeliveryQuery, DeliveryView } from '../../schemas/webhooks/delivery.ts'
import { deliveryOperations } from '../../schemas/webhooks/delivery-operations.ts'

const path = '/v2/deliveries'

/** Lists deliveries of callbacks and webhooks, and returns single ones. */
export function deliveryRoutes({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  // The list is sent as text while the attempts are loaded.
  const Streamed = Type.Unsafe<Readable>(DeliveryList)
  return async (http) => {
    http.get(
      path,
      {
        schema: {
          ...deliveryOperations.list,
          querystring: DeliveryQuery,
          response: { 200: Streamed, ...errorResponses(400) },
        },
      },
      async ({ account, method, query, raw }, reply) => {
        const limit = Math.min(query.limit, config.http.listMaxLimit)
        const filter = {
          ...periodOf(query),
          account,
          jobId: query.job_id?.toLowerCase(),
          endpointId: query.endpoint_id,
          statuses: query.status,
          events: query.event,
        }
        const pageRequest = { offset: query.offset, limit }
        const page = await runInTurn(account, () => listDeliveries(db, filter, pageRequest))
        const urls = pageUrls(`${baseUrlOf(raw, config.http)}${path}`, query, { limit, page })
        // For HEAD, the framework would read the whole list and discard it.
        const deliveries = method === 'HEAD' ? [] : page.deliveries
        return sendList(reply, writeList(urls, loadDeliveries(deliveries)))
      },
    )

    http.get(
      `${path}/:id`,
      {
        schema: {
          ...deliveryOperations.get,
          params: IdParams,
          response: { 200: DeliveryView, ...errorResponses(404) },
        },
      },
      async ({ account, params: { id } }) => findDeliveryView(db, { id, account }),
    )
  }

  async function* loadDeliveries(
    deliveries: readonly LoggedDelivery[],
  ): AsyncGenerator<LazyText[]> {
    for (const group of groupByAttempts(deliveries)) {
      const ids = group.map(({ id }) => id)
      const attempts = await findAttempts(db, ids)
      yield group.map((delivery) => () => {
        return JSON.stringify(toDeliveryView(delivery, attempts.get(delivery.id)!))
      })
    }
  }
}
