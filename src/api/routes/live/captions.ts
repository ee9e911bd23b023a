import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { findJob } from '../../../storage/jobs/jobs.ts'
import {
  type CaptionStreams,
  captionResponses,
  captionsDescription,
} from '../../responses/streams/caption-streams.ts'
import { IdParams } from '../../schemas/jobs/job.ts'

/** Streams the transcript of a session to clients that may read it. An extension of the API. */
export function captionRoutes(
  { storage: { db } }: Pick<App, 'storage'>,
  captions: CaptionStreams,
): FastifyPluginAsyncTypebox {
  const schema = {
    tags: ['Live'],
    operationId: 'getLiveCaptions',
    summary: 'Watch a live session',
    description: captionsDescription,
    params: IdParams,
    response: captionResponses,
  }
  return async (http) => {
    http.get('/v2/live/:id/captions', { schema }, async (request, reply) => {
      const { account, params } = request
      const job = await findJob(db, { id: params.id, account, kind: 'live' })
      if (!job) throw new AppError('job_not_found', params.id)
      return captions.open(job, { request, reply, isAllowed: request.isStillAllowed })
    })
  }
}
