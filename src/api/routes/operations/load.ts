import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { toDateTime } from '../../lists/date-time.ts'
import { LoadReport } from '../../schemas/operations/load.ts'
import { INTERVAL_MS, LoadHistory, type LoadPoint } from './metrics/load-history.ts'

/** Reports the load of the last half hour. An extension of the API. */
export function loadRoutes({
  metrics,
  storage,
  live,
}: Pick<App, 'metrics' | 'storage' | 'live'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    const history = new LoadHistory({ metrics, storage, live }, http.log)
    http.addHook('onListen', async () => history.start())
    http.addHook('onClose', () => history.close())
    const schema = {
      tags: ['Server'],
      operationId: 'getLoad',
      summary: 'Get the load of the last half hour',
      description:
        'Returns the load of the process that handles the request, since it started; the queue and the deliveries are those of all that share ' +
        'its database. It is meant for people; programs read `/metrics`. Needs a key with the scope `admin`.',
      response: { 200: LoadReport },
    }
    http.get('/v2/load', { schema }, async () => ({
      interval_s: INTERVAL_MS / 1000,
      items: history.points.map(toView),
    }))
  }
}

function toView(point: LoadPoint) {
  const { at, queued, processing, sessions, deliveries } = point
  return {
    at: toDateTime(at),
    queued,
    processing,
    sessions,
    deliveries,
    request_seconds: point.requestSeconds,
    final_seconds: point.finalSeconds,
    failed_requests: point.failedRequests,
    failed_jobs: point.failedJobs,
    failed_deliveries: point.failedDeliveries,
    worker_restarts: point.workerRestarts,
  }
}
