import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { wallNow } from '../../../clock.ts'
import { sendTestEvent } from '../../../delivery/send-test-event.ts'
import { AppError } from '../../../errors.ts'
import { recordAudit } from '../../../storage/accounts/audit-log.ts'
import { createWebhook } from '../../../storage/deliveries/endpoints/create-webhook.ts'
import { removeEndpoint } from '../../../storage/deliveries/endpoints/endpoint-removal.ts'
import {
  countWebhooks,
  type Endpoint,
  findEndpoint,
} from '../../../storage/deliveries/endpoints/endpoints.ts'
import { webhookEvents } from '../../../storage/deliveries/queue-deliveries.ts'
import { clientAddressOf } from '../../auth/client-address.ts'
import { accountFilterOf, type ResourceRequest } from '../../auth/require-account.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { acceptJson, ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { disconnectSignal } from '../../middleware/disconnect-signal.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { toEndpointView } from '../../responses/endpoint-view.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { endpointOperations } from '../../schemas/webhooks/delivery-operations.ts'
import { CreatedWebhook, WebhookRequest, WebhookTest } from '../../schemas/webhooks/webhook.ts'

/** The longest URL, a name and all events fit. */
const MAX_BODY_BYTES = 16 * 1024
/** Maximum webhooks of an account: each event is a row for each of them. */
const MAX_WEBHOOKS = 50

const path = '/v2/endpoints'

type Deps = Pick<App, 'config' | 'storage'> & { bodies: BodyReader }

/** Creates, tests and deletes webhooks. An extension of the API. */
export function webhookRoutes(app: Deps): FastifyPluginAsyncTypebox {
  return async (http) => {
    await http.register(creationRoute(app))
    await http.register(changeRoutes(app))
  }
}

function creationRoute({ config, storage: { db }, bodies }: Deps): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  return async (http) => {
    acceptJson(http, { maxBytes: MAX_BODY_BYTES })
    const schema = {
      ...endpointOperations.create,
      body: WebhookRequest,
      response: { 201: CreatedWebhook, ...errorResponses(409, 413, 415, 422) },
    }
    http.post(path, { schema }, async (request, reply) => {
      const { account } = request
      const { url, name = null, events: requestedEvents } = await bodies.read('webhook', request)
      const events = requestedEvents
        ? webhookEvents.filter((event) => requestedEvents.includes(event))
        : null
      const webhook = { account, url, name, events, source: 'api', createdAt: wallNow() } as const
      const { id, secret } = await runInTurn(account, async () => {
        if ((await countWebhooks(db, account)) >= MAX_WEBHOOKS) {
          throw new AppError('too_many_webhooks', `the limit is ${MAX_WEBHOOKS}`)
        }
        return createWebhook(db, webhook, actorOf(request, config))
      })
      if (secret === undefined) throw new AppError('webhook_exists', id)
      const created = (await findEndpoint(db, { id, account }))!
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...toEndpointView(created), secret })
    })
  }
}

function changeRoutes({ config, storage: { db } }: Deps): FastifyPluginAsyncTypebox {
  return async (http) => {
    ignoreBodies(http)

    const remove = {
      ...endpointOperations.remove,
      params: IdParams,
      response: {
        204: Type.Unsafe<undefined>(Type.Null({ description: 'The webhook is deleted' })),
        ...errorResponses(404, 422),
      },
    }
    http.delete(`${path}/:id`, { schema: remove }, async (request, reply) => {
      const { id, source, account } = await requireWebhook(request)
      if (source === 'settings') {
        throw new AppError('webhook_configured', 'it would come back with the next start')
      }
      await removeEndpoint(db, id, { reason: 'the webhook was removed', at: wallNow() })
      const entry = { action: 'webhook.removed' as const, account, subject: id }
      await recordAudit(db, entry, actorOf(request, config))
      return reply.code(204).send()
    })

    const test = {
      ...endpointOperations.test,
      params: IdParams,
      response: { 200: WebhookTest, ...errorResponses(404) },
    }
    http.post(`${path}/:id/test`, { schema: test }, async (request, reply) => {
      const webhook = await requireWebhook(request)
      const { id, reason, attempt } = await sendTestEvent({ db, config }, webhook, {
        signal: disconnectSignal(reply),
      })
      const status = attempt.status ?? null
      return { delivery_id: id, is_delivered: reason === null, status, reason }
    })
  }

  /**
   * Finds the webhook of a request; rejects with `endpoint_not_found`, also for the origin of
   * callbacks, which cannot be removed or tested.
   */
  async function requireWebhook(request: ResourceRequest): Promise<Endpoint> {
    const { id } = request.params
    const endpoint = await findEndpoint(db, { id, account: accountFilterOf(request) })
    if (endpoint?.kind === 'webhook') return endpoint
    throw new AppError('endpoint_not_found', id)
  }
}

function actorOf({ keyId, raw }: FastifyRequest, { http }: App['config']) {
  return { source: 'api', keyId, address: clientAddressOf(raw, http) } as const
}
