import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { addRoutes } from '../add-routes.ts'
import { shareRoutes } from '../transcripts/shares.ts'
import { transcriptRoute } from '../transcripts/transcript.ts'
import { transcriptEditRoutes } from '../transcripts/transcript-edits.ts'
import { jobCreation } from './job-creation.ts'
import { jobRoutes } from './job-routes.ts'

const path = '/v2/transcription'

/**
 * Serves the deprecated alias routes: creation as for recorded audio, everything else
 * for both kinds.
 */
export function deprecatedTranscriptionRoutes(
  app: Pick<App, 'config' | 'storage' | 'jobs'> & { bodies: BodyReader },
): FastifyPluginAsyncTypebox {
  return async (http) => {
    // The hook also runs for requests that are refused before they reach a route, such as one
    // without a key.
    http.addHook('onSend', async (_request, reply) => {
      reply.header('deprecation', 'true')
    })
    await addRoutes(http, jobCreation(app, { path }))
    await http.register(jobRoutes(app, { path }))
    await http.register(transcriptRoute(app, { path }))
    await http.register(transcriptEditRoutes(app, { path }))
    await http.register(shareRoutes(app, { path }))
  }
}
