import type { ApiOperation } from '../common/operations.ts'

function operation(operationId: string, summary: string, description: string): ApiOperation {
  return { tags: ['Deliveries'], operationId, summary, description }
}

/** The routes for deliveries of callbacks and webhooks. */
export const deliveryOperations = {
  list: operation(
    'listDeliveries',
    'List deliveries',
    'Lists deliveries, newest first, each with its last attempts. Follow `next` until it is null to see all. An empty parameter counts as not given.',
  ),
  get: operation(
    'getDelivery',
    'Get a delivery',
    'Returns one event for one receiver, with its last delivery attempts.',
  ),
  resend: operation(
    'resendDelivery',
    'Resend a delivery',
    'Resends it immediately, or as soon as earlier events of the same job have ended; its id stays the same. A delivery ' +
      'that has ended, even successfully, gets all its attempts again. Reads no body.',
  ),
  resendFailed: operation(
    'resendFailedDeliveries',
    'Resend failed deliveries',
    'Resends all deliveries that failed since a time, except those whose endpoint is disabled or was removed. ' +
      'The events of a job keep their order.',
  ),
}

/** The routes for endpoints. */
export const endpointOperations = {
  list: operation(
    'listEndpoints',
    'List endpoints',
    'Lists the webhooks of the account and the origins of its callbacks, oldest first. ' +
      'Follow `next` until it is null to see all. An empty parameter counts as not given. A key with the ' +
      'scope `admin` also reaches those of other accounts, here and by id.',
  ),
  create: operation(
    'createWebhook',
    'Create a webhook',
    'The webhook receives the events of all jobs of the account from now on. Only this response contains the secret ' +
      'that signs them. Needs the scopes `read` and `write`.',
  ),
  remove: operation(
    'removeWebhook',
    'Delete a webhook',
    'Deletes the webhook with its secret, and gives up its pending deliveries. A webhook that `STENO_WEBHOOKS` defines can only be disabled. Reads no body.',
  ),
  test: operation(
    'testWebhook',
    'Test a webhook',
    'Sends the event `webhook.test` once, immediately, even if the webhook is disabled. Reads no body.',
  ),
  get: operation('getEndpoint', 'Get an endpoint', 'Returns a receiver and its health.'),
  enable: operation(
    'enableEndpoint',
    'Enable an endpoint',
    'New events are sent to it again; events that failed meanwhile can be resent. Reads no body.',
  ),
  disable: operation(
    'disableEndpoint',
    'Disable an endpoint',
    'Gives up its pending deliveries, and records new ones as failed. Reads no body.',
  ),
}
