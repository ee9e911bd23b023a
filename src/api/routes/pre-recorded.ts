import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AppError } from '../../errors.ts'
import type { App } from '../../server-parts.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import { findProgress } from '../../storage/jobs/progress.ts'
import type { Bodies } from '../bodies/bodies.ts'
import { errorAnswers } from '../schemas/error.ts'
import { IdParams, JobProgressView } from '../schemas/job.ts'
import { cancellationRoute } from './cancellation.ts'
import { createRoute } from './create-route.ts'
import { jobRoutes } from './job-routes.ts'
import { transcriptRoute } from './transcript.ts'

const path = '/v2/pre-recorded'

/** Serves jobs of recorded audio, and their progress. */
export function preRecordedRoutes(
  app: Pick<App, 'config' | 'storage' | 'jobs'> & { bodies: Bodies },
): FastifyPluginAsyncTypebox {
  return async (http) => {
    await http.register(createRoute(app, { path }))
    await http.register(jobRoutes(app, { path, kind: 'pre-recorded' }))
    await http.register(transcriptRoute(app, { path, kind: 'pre-recorded' }))
    await http.register(cancellationRoute(app))

    http.get(
      `${path}/:id/progress`,
      {
        schema: {
          tags: ['Pre-recorded'],
          operationId: 'getPreRecordedProgress',
          summary: 'Get the progress of a pre-recorded job',
          description:
            'Progress for people who wait. `stage` and the fields after it are null unless the job is running.',
          params: IdParams,
          response: { 200: JobProgressView, ...errorAnswers(404) },
        },
      },
      async ({ account, params: { id } }) => {
        const { db } = app.storage
        const job = await findJob(db, { id, account, kind: 'pre-recorded' })
        if (!job) throw new AppError('job_not_found', id)
        const progress = await findProgress(db, { id, account })
        const { stage = null, fraction = null, secondsLeft = null } = progress ?? {}
        return { status: job.status, stage, fraction, seconds_left: secondsLeft }
      },
    )
  }
}
