import type { TSchema } from 'typebox'
import { CallbackEvent, LiveCallbackEvent, WebhookEvent } from '../schemas/webhooks/events.ts'
import { publishSchema } from './publish-schema.ts'

/**
 * Describes the requests that receivers of callbacks and webhooks get: the section `webhooks` of
 * the description.
 */
export function describeWebhooks(): Record<string, unknown> {
  const callback = 'The end of a pre-recorded job, sent to its `callback_config.url`'
  const message = 'A message of a live session, sent to its `callback_config.url`'
  const event = 'An event of any job of an account'
  return {
    callback: {
      post: request('callback', { summary: callback, schema: CallbackEvent }),
      put: request('callbackByPut', {
        summary: `${callback} if its \`method\` is PUT`,
        schema: CallbackEvent,
      }),
    },
    liveCallback: {
      post: request('liveCallback', { summary: message, schema: LiveCallbackEvent }),
    },
    webhook: { post: request('webhook', { summary: event, schema: WebhookEvent }) },
  }
}

const header = (name: string, description: string, required = true) => {
  return { in: 'header', name, description, required, schema: { type: 'string' } }
}

/** The headers of Standard Webhooks 1.0. */
const parameters = [
  header('webhook-id', 'Stays the same each time the event is sent'),
  header('webhook-timestamp', 'When this attempt was made, in seconds since 1970'),
  header('webhook-signature', '`v1,` and a base64 signature, one for each valid secret', false),
]

const responses = {
  '2XX': { description: 'Accepted. The server ignores the body.' },
  410: {
    description:
      'Gone: the server disables a webhook, and drops the remaining events of a callback.',
  },
  default: { description: 'The server retries later, after `Retry-After` if given.' },
}

function request(operationId: string, { summary, schema }: { summary: string; schema: TSchema }) {
  return {
    tags: ['Deliveries'],
    operationId,
    summary,
    description: 'Events arrive at least once, and in order for each job.',
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: publishSchema(schema, { closed: false }) } },
    },
    responses,
  }
}
