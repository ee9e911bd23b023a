import type { Static } from 'typebox'
import { webhookEvents } from '../../../storage/deliveries/queue-deliveries.ts'
import { Type } from '../common/type.ts'
import { Nullable, OneOf } from '../common/values.ts'
import { HttpUrl } from '../jobs/add-on-configs.ts'
import { EndpointView } from './endpoint.ts'

/** The longest text that fits a line of the list. */
const MAX_LABEL_CHARS = 100

/** The body of a request for a new webhook. */
export const WebhookRequest = Type.Object(
  {
    url: HttpUrl,
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_LABEL_CHARS,
        format: 'label',
        description: 'Its display name',
      }),
    ),
    events: Type.Optional(
      Type.Array(OneOf(...webhookEvents), {
        minItems: 1,
        maxItems: webhookEvents.length,
        description: 'The events to send; all by default',
      }),
    ),
  },
  { title: 'WebhookRequest', examples: [{ url: 'https://example.com/hook' }] },
)

/** The body of a request for a new webhook, after validation. */
export type WebhookRequest = Static<typeof WebhookRequest>

/** The response to the creation of a webhook, the only response with its secret. */
export const CreatedWebhook = Type.Object(
  {
    ...EndpointView.properties,
    secret: Type.String({
      description: 'The secret that signs its events; no other response contains it',
    }),
  },
  { title: 'CreatedWebhook' },
)

/** The outcome of a test event. */
export const WebhookTest = Type.Object(
  {
    delivery_id: Type.String({ description: 'Its id in the log of deliveries' }),
    is_delivered: Type.Boolean(),
    status: Nullable(
      Type.Integer({ description: 'HTTP status of the response; null without a response' }),
    ),
    reason: Nullable(Type.String({ description: 'Why the delivery failed; null if it succeeded' })),
  },
  { title: 'WebhookTest' },
)
