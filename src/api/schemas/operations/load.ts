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
    queued: Count('Recordings waiting in the queue'),
    processing: Count('Recordings that are being transcribed'),
    sessions: Count('Open live sessions of this process'),
    deliveries: Count('Deliveries that have not ended'),
    request_seconds: Seconds(
      '95th percentile of response times since the previous point, in seconds; without requests whose duration depends on the client',
    ),
    final_seconds: Seconds(
      '95th percentile of the seconds from the end of an utterance to its final, since the previous point',
    ),
    failed_requests: Count('Responses with a status of 500 or more, since the previous point'),
    failed_jobs: Count('Jobs that failed because of the server, since the previous point'),
    failed_deliveries: Count('Deliveries that were given up since the previous point'),
    worker_restarts: Count('Processes that ended and were replaced, since the previous point'),
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
