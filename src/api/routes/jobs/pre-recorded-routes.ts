import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { JobRef } from '../../../storage/jobs/jobs.ts'
import { findJobState, type JobState } from '../../../storage/jobs/queue/job-state.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { disconnectSignal } from '../../middleware/disconnect-signal.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams, JobProgressView } from '../../schemas/jobs/job.ts'
import { addRoutes } from '../add-routes.ts'
import { shareRoutes } from '../transcripts/shares.ts'
import { transcriptRoute } from '../transcripts/transcript.ts'
import { transcriptEditRoutes } from '../transcripts/transcript-edits.ts'
import { cancellationRoute } from './cancellation.ts'
import { jobCreation } from './job-creation.ts'
import { jobRoutes } from './job-routes.ts'

const path = '/v2/pre-recorded'

const ProgressQuery = Type.Object({
  wait: Type.Integer({
    minimum: 0,
    maximum: 10,
    default: 0,
    description: 'Seconds to wait for the end of the job before the response',
  }),
})

/** Serves jobs of recorded audio, and their progress. */
export function preRecordedRoutes(
  app: Pick<App, 'config' | 'storage' | 'jobs'> & { bodies: BodyReader },
): FastifyPluginAsyncTypebox {
  return async (http) => {
    await addRoutes(http, jobCreation(app, { path }))
    await http.register(jobRoutes(app, { path, kind: 'pre-recorded' }))
    await http.register(transcriptRoute(app, { path, kind: 'pre-recorded' }))
    await http.register(transcriptEditRoutes(app, { path, kind: 'pre-recorded' }))
    await http.register(shareRoutes(app, { path, kind: 'pre-recorded' }))
    const cancel = (job: JobRef) => app.jobs.service.cancel(job)
    await http.register(cancellationRoute({ kind: 'pre-recorded', cancel }))

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
          querystring: ProgressQuery,
          response: { 200: JobProgressView, ...errorResponses(400, 404) },
        },
      },
      async ({ account, params: { id }, query: { wait } }, reply) => {
        const job = { id, account, kind: 'pre-recorded' } as const
        // The job is looked up first, so that the response time reveals nothing about jobs of other
        // accounts.
        let state = await requireState(job)
        if (wait > 0 && state.status !== 'done' && state.status !== 'error') {
          await waitUntilEnded(job, { wait, reply })
          state = await requireState(job)
        }
        const { stage = null, fraction = null, secondsLeft = null } = state.progress ?? {}
        return { status: state.status, stage, fraction, seconds_left: secondsLeft }
      },
    )
  }

  async function requireState(ref: JobRef): Promise<JobState> {
    const state = await findJobState(app.storage.db, ref)
    if (!state) throw new AppError('job_not_found', ref.id)
    return state
  }

  /** Waits until the job has ended, `wait` seconds have passed or the client has disconnected. */
  async function waitUntilEnded(
    ref: JobRef,
    { wait, reply }: { wait: number; reply: FastifyReply },
  ): Promise<void> {
    const stopSignal = AbortSignal.any([disconnectSignal(reply), AbortSignal.timeout(wait * 1000)])
    try {
      await app.jobs.service.whenEnded(ref, stopSignal)
    } catch (error) {
      if (!stopSignal.aborted) throw error
    }
  }
}
