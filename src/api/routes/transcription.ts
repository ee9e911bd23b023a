import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../app.ts'
import type { Bodies } from '../bodies/bodies.ts'
import { createRoute } from './create-route.ts'
import { jobRoutes } from './job-routes.ts'

const path = '/v2/transcription'

/** The deprecated twins (contract 9): creation as for recorded audio, everything else for both kinds. */
export function transcriptionRoutes(
  app: Pick<App, 'config' | 'storage' | 'jobs'> & { bodies: Bodies },
): FastifyPluginAsyncTypebox {
  return async (http) => {
    // Also on what is refused before it gets here, such as a request without a key.
    http.addHook('onSend', async (_request, reply) => {
      reply.header('deprecation', 'true')
    })
    await http.register(createRoute(app, { path }))
    await http.register(jobRoutes(app, { path }))
  }
}
