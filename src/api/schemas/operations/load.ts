import { Type } from '../common/type.ts'
import { DateTime, Nullable } from '../common/values.ts'

function Count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

function Seconds(description: string) {
  return Nullable(Type.Number({ minimum: 0, description }))
}

const LoadPoint = Type.Object(
  {
    at: DateTime,
    queued: Count('Recordings that wait'),
    processing: Count('Recordings that are being transcribed'),
    sessions: Count('Open live sessions of this process'),
    deliveries: Count('Deliveries that have not ended'),
    request_seconds: Seconds(
      'Within which 95 % of the requests since the point before were answered; those that take as long as their client are left out',
    ),
    final_seconds: Seconds(
      'Within which 95 % of the finals came after their utterance, since the point before',
    ),
    failed_requests: Count('Responses with a status of 500 or more, since the point before'),
    failed_jobs: Count('Jobs that failed because of the server, since the point before'),
    failed_deliveries: Count('Deliveries that were given up, since the point before'),
    worker_restarts: Count('Processes that ended and were replaced, since the point before'),
  },
  { title: 'LoadPoint' },
)

/** The load of a server over the last half hour. */
export const LoadReport = Type.Object(
  {
    interval_s: Type.Integer({ description: 'Seconds between two points' }),
    items: Type.Array(LoadPoint, { description: 'Oldest first' }),
  },
  { title: 'LoadReport' },
)
