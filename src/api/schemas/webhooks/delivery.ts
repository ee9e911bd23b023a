import type { Static } from 'typebox'
import { KEPT_ATTEMPTS } from '../../../storage/deliveries/deliveries.ts'
import { MAX_NAME_CHARS, MAX_QUERY_VALUES } from '../common/limits.ts'
import { AnyOf, DateFilter, listPageSchema, pageFields } from '../common/list-query.ts'
import { Type } from '../common/type.ts'
import { DateTime, Nullable, OneOf } from '../common/values.ts'

/** The statuses of a delivery. */
const deliveryStatuses = ['pending', 'delivered', 'failed'] as const

const Headers = Type.Record(Type.String(), Type.String())

const AttemptView = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      description: 'The number of the attempt; attempts before a resend count, too',
    }),
    at: DateTime,
    duration_ms: Type.Integer({ minimum: 0 }),
    status_code: Nullable(
      Type.Integer({ minimum: 100, maximum: 999, description: 'Null if there was no response' }),
    ),
    error: Nullable(Type.String({ description: 'Why there was no response' })),
    request_headers: Type.Unsafe<Record<string, string>>(Headers),
    response_headers: Nullable(Headers),
    response_body: Nullable(
      Type.String({ description: 'The beginning of the response body, at most a kilobyte' }),
    ),
  },
  {
    title: 'DeliveryAttempt',
    description: 'One request and its response; secrets in headers are hidden',
  },
)

/** The delivery of one event to a receiver, and its outcome. */
export const DeliveryView = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The `webhook-id` of every attempt' }),
    job_id: Nullable(Type.String({ format: 'uuid', description: 'Null for a test' })),
    endpoint_id: Type.String(),
    kind: OneOf('callback', 'live_callback', 'webhook'),
    event: Type.String(),
    method: OneOf('POST', 'PUT'),
    url: Type.String({
      description: 'The address it goes to; a user name and password in it are hidden',
    }),
    status: OneOf(...deliveryStatuses),
    reason: Nullable(Type.String({ description: 'Why it failed, or why the last attempt did' })),
    attempt_count: Type.Integer({ minimum: 0 }),
    created_at: DateTime,
    next_attempt_at: Nullable(
      Type.String({
        format: 'date-time',
        description: 'Null when it has ended, or waits for an earlier event of its job',
      }),
    ),
    completed_at: Nullable(DateTime),
    attempts: Type.Array(AttemptView, { description: `The last ${KEPT_ATTEMPTS} attempts` }),
  },
  { title: 'Delivery' },
)

/** A delivery in a response. */
export type DeliveryView = Static<typeof DeliveryView>

/** One page of deliveries. */
export const DeliveryList = listPageSchema(DeliveryView, 'DeliveryList')

/** The filters and the page of a list of deliveries. */
export const DeliveryQuery = Type.Object({
  ...pageFields('Deliveries'),
  date: DateFilter('Deliveries queued on this UTC day'),
  before_date: DateFilter('Deliveries queued before this time'),
  after_date: DateFilter('Deliveries queued after this time'),
  job_id: Type.Optional(
    Type.String({ maxLength: MAX_NAME_CHARS, description: 'Deliveries of the events of this job' }),
  ),
  endpoint_id: Type.Optional(
    Type.String({ maxLength: MAX_NAME_CHARS, description: 'Deliveries to this endpoint' }),
  ),
  status: AnyOf(deliveryStatuses, 'Deliveries in any of these states'),
  event: Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_NAME_CHARS }), {
      maxItems: MAX_QUERY_VALUES,
      description: 'Deliveries of any of these events, such as `transcription.success`',
    }),
  ),
})

/** The query of a list of deliveries. */
export type DeliveryQuery = Static<typeof DeliveryQuery>
