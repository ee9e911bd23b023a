import type { Static } from 'typebox'
import { webhookEvents } from '../../../storage/deliveries/queue-deliveries.ts'
import { AnyOf, listPageSchema, OtherAccount, pageFields } from '../common/list-query.ts'
import { Type } from '../common/type.ts'
import { DateTime, Nullable, OneOf } from '../common/values.ts'

const endpointKinds = ['callback', 'webhook'] as const
const endpointStatuses = ['enabled', 'failing', 'disabled'] as const

/** An endpoint of an account, and its state. */
export const EndpointView = Type.Object(
  {
    id: Type.String({ description: 'The `endpoint_id` of its deliveries' }),
    account: Type.String(),
    kind: Type.Unsafe<(typeof endpointKinds)[number]>({
      ...OneOf(...endpointKinds),
      description:
        'A webhook receives the events of all jobs; a callback stands for every `callback_config.url` of one origin',
    }),
    url: Type.String({
      description:
        'The address of a webhook, or the origin of a callback; a user name and password in it are hidden',
    }),
    name: Nullable(Type.String()),
    events: Nullable(Type.Array(OneOf(...webhookEvents), { description: 'Null for all events' })),
    source: Type.Unsafe<'cli' | 'api' | 'settings' | 'jobs'>({
      ...OneOf('cli', 'api', 'settings', 'jobs'),
      description:
        'What created it: a command, a request, `STENO_WEBHOOKS`, or a job that named it',
    }),
    status: Type.Unsafe<(typeof endpointStatuses)[number]>({
      ...OneOf(...endpointStatuses),
      description:
        '`failing` while its last delivery failed; the server sends nothing to a disabled endpoint',
    }),
    failing_since: Nullable(DateTime),
    last_failure: Nullable(Type.String({ description: 'What went wrong the last time' })),
    last_success_at: Nullable(
      Type.String({
        format: 'date-time',
        description: 'The time of the last success, to the minute while all goes well',
      }),
    ),
    disabled_at: Nullable(DateTime),
    disabled_reason: Nullable(Type.String()),
    created_at: DateTime,
  },
  { title: 'Endpoint' },
)

/** An endpoint in a response. */
export type EndpointView = Static<typeof EndpointView>

/** One page of endpoints. */
export const EndpointList = listPageSchema(EndpointView, 'EndpointList')

/** The filters and the page of a list of endpoints. */
export const EndpointQuery = Type.Object({
  ...pageFields('Endpoints'),
  account: OtherAccount,
  kind: AnyOf(endpointKinds, 'Endpoints of any of these kinds'),
  status: AnyOf(endpointStatuses, 'Endpoints in any of these states'),
})
