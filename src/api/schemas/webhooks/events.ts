import { webhookEvents } from '../../../storage/deliveries/queue-deliveries.ts'
import { Type } from '../common/type.ts'
import { FreeObject, OneOf, Uuid } from '../common/values.ts'
import { PreRecordedResult } from '../jobs/job-results.ts'

const job = {
  id: Uuid,
  custom_metadata: Type.Optional(FreeObject('The value that the client sent')),
}

const Success = Type.Object(
  { ...job, event: OneOf('transcription.success'), payload: PreRecordedResult },
  { title: 'CallbackSuccess' },
)

const Failure = Type.Object(
  {
    ...job,
    event: OneOf('transcription.error'),
    error: Type.Object({
      code: Type.Integer({ minimum: 400, maximum: 599, description: 'An HTTP status' }),
      message: Type.String(),
    }),
  },
  { title: 'CallbackFailure' },
)

/** The event that the callback of a recording receives. */
export const CallbackEvent = Type.Union([Success, Failure], { title: 'CallbackEvent' })

/** The event that the callback of a live session receives. */
export const LiveCallbackEvent = Type.Object(
  {
    id: Uuid,
    event: Type.String({
      pattern: '^live\\.',
      description: '`live.` and the type of the message, such as `live.transcript`',
    }),
    payload: FreeObject('The message as the socket carries it'),
  },
  { title: 'LiveCallbackEvent' },
)

/** The event that an account webhook receives. */
export const WebhookEvent = Type.Object(
  {
    event: OneOf(...webhookEvents, 'webhook.test'),
    payload: Type.Object({
      id: Type.String({ format: 'uuid', description: 'The id of the job; a test has its own' }),
    }),
  },
  { title: 'WebhookEvent' },
)
