import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import type { JobRef } from '../../../storage/jobs/jobs.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { addRoutes } from '../add-routes.ts'
import { cancellationRoute } from '../jobs/cancellation.ts'
import { jobRoutes } from '../jobs/job-routes.ts'
import { shareRoutes } from '../transcripts/shares.ts'
import { transcriptRoute } from '../transcripts/transcript.ts'
import { transcriptEditRoutes } from '../transcripts/transcript-edits.ts'
import { liveCreation } from './live-creation.ts'
import { liveMetadata } from './live-metadata.ts'

/** Serves live sessions, except for their sockets. */
export function liveRoutes(
  app: Pick<App, 'config' | 'storage' | 'jobs' | 'live'> & { bodies: BodyReader },
): FastifyPluginAsyncTypebox {
  return async (http) => {
    await addRoutes(http, liveCreation(app))
    await http.register(liveMetadata(app))
    await http.register(jobRoutes(app, { path: '/v2/live', kind: 'live' }))
    const cancel = (job: JobRef) => app.live.cancel(job)
    await http.register(cancellationRoute({ kind: 'live', cancel }))
    await http.register(transcriptRoute(app, { path: '/v2/live', kind: 'live' }))
    await http.register(transcriptEditRoutes(app, { path: '/v2/live', kind: 'live' }))
    await http.register(shareRoutes(app, { path: '/v2/live', kind: 'live' }))
  }
}
