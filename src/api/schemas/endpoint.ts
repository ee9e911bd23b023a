import Type, { type Static } from 'typebox'
import { webhookEvents } from '../../storage/outbox.ts'
import { DateTime, Nullable, OneOf } from './values.ts'

/** A receiver of an account, and how it fares. */
export const EndpointView = Type.Object(
  {
    id: Type.String({ description: '`endpoint_id` of its deliveries' }),
    kind: Type.Unsafe<'callback' | 'webhook'>({
      ...OneOf('callback', 'webhook'),
      description:
        'A webhook is told of all jobs; a callback stands for all `callback_config.url` of one origin',
    }),
    url: Type.String({
      description: 'Of a callback only the origin; a user name and password in it are hidden',
    }),
    name: Nullable(Type.String()),
    events: Nullable(
      Type.Array(OneOf(...webhookEvents), { description: 'Null for all that there are' }),
    ),
    source: Type.Unsafe<'cli' | 'settings' | 'jobs'>({
      ...OneOf('cli', 'settings', 'jobs'),
      description: 'What made it: a command, `STENO_WEBHOOKS`, or a job that named it',
    }),
    status: Type.Unsafe<'enabled' | 'failing' | 'disabled'>({
      ...OneOf('enabled', 'failing', 'disabled'),
      description:
        'Failing while its last delivery failed; nothing is sent to one that is disabled',
    }),
    failing_since: Nullable(DateTime),
    last_failure: Nullable(Type.String({ description: 'What went wrong the last time' })),
    last_success_at: Nullable(
      Type.String({ format: 'date-time', description: 'To the minute, while all goes well' }),
    ),
    disabled_at: Nullable(DateTime),
    disabled_reason: Nullable(Type.String()),
    created_at: DateTime,
  },
  { title: 'Endpoint' },
)

/** An endpoint as it is answered. */
export type EndpointView = Static<typeof EndpointView>

/** All endpoints of an account. */
export const EndpointList = Type.Object(
  { items: Type.Array(EndpointView) },
  { title: 'EndpointList' },
)
