import { MAX_NAME_CHARS } from '../common/limits.ts'
import { Type } from '../common/type.ts'
import { DateOrDateTime } from '../common/values.ts'

/** The body of a request to resend failed deliveries: which ones to resend. */
export const ResendRequest = Type.Object(
  {
    since: DateOrDateTime(
      'Only deliveries that failed at this time or later; a date stands for its midnight, UTC',
    ),
    endpoint_id: Type.Optional(
      Type.String({ maxLength: MAX_NAME_CHARS, description: 'Only deliveries to this endpoint' }),
    ),
    job_id: Type.Optional(
      Type.String({
        maxLength: MAX_NAME_CHARS,
        description: 'Only deliveries of the events of this job',
      }),
    ),
  },
  { title: 'ResendRequest', examples: [{ since: '2026-03-04T05:00:00Z' }] },
)

/** The number of resent deliveries. */
export const Resent = Type.Object({ resent: Type.Integer({ minimum: 0 }) }, { title: 'Resent' })
