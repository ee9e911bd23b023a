import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../app.ts'
import { jobRoutes } from './job-routes.ts'

/** Live jobs as they are stored; sessions themselves are not here yet. */
export function liveRoutes(
  app: Pick<App, 'config' | 'storage' | 'jobs'>,
): FastifyPluginAsyncTypebox {
  return jobRoutes(app, { path: '/v2/live', kind: 'live' })
}
