import type { ApiOperation } from '../common/operations.ts'

function operation(operationId: string, summary: string, description: string): ApiOperation {
  return { tags: ['Deliveries'], operationId, summary, description }
}

/** The routes for deliveries of callbacks and webhooks. */
export const deliveryOperations = {
  list: operation(
    'listDeliveries',
    'List deliveries',
    'Newest first, each with its last attempts. Follow `next` until it is null to see all. An empty parameter counts as not given.',
  ),
  get: operation(
    'getDelivery',
    'Get a delivery',
    'One event for one receiver, with its last delivery attempts.',
  ),
  resend: operation(
    'resendDelivery',
    'Resend a delivery',
    'Resends it immediately, or as soon as earlier events of the same job have ended; its id stays the same. One that has ended, also ' +
      'one that was delivered, gets all its attempts anew. A body is not needed and not read.',
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
    'The webhooks of the account, and the origins that its jobs want to be called back at. The oldest first. ' +
      'Follow `next` until it is null to see all. An empty parameter counts as not given. With the scope `admin` those ' +
      'of other accounts, too, here and by id.',
  ),
  create: operation(
    'createWebhook',
    'Create a webhook',
    'It receives the events of all jobs of the account from now on. The response contains the secret that signs them, only ' +
      'this once. Needs the scopes `read` and `write`.',
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
  get: operation('getEndpoint', 'Get an endpoint', 'A receiver and its health.'),
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
