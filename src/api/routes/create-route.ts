import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { readIdempotencyKey } from '../idempotency.ts'
import { errorAnswers } from '../schemas/error.ts'
import { CreatedJob } from '../schemas/job.ts'
import { CreationHeaders, creationOperation } from '../schemas/operations.ts'
import { preRecordedRequest } from '../schemas/pre-recorded-request.ts'
import { createSubmissionReader } from '../submission.ts'
import { baseUrlOf, originOf } from '../urls.ts'

/** Creation of a pre-recorded job, answered as soon as the job is stored (contract 2.3). */
export function createRoute(
  app: Pick<App, 'config' | 'storage' | 'jobs'>,
  { path }: { path: string },
): FastifyPluginAsyncTypebox {
  const requestBody = preRecordedRequest(app.config)
  const readSubmission = createSubmissionReader(app, requestBody)
  return async (http) => {
    http.post(
      path,
      {
        schema: {
          ...creationOperation(path),
          headers: CreationHeaders,
          body: requestBody,
          response: { 201: CreatedJob, ...errorAnswers(404, 413, 415, 422) },
        },
      },
      async ({ account, body, headers, log, raw }, reply) => {
        if (body === undefined) throw new AppError('content_type_unsupported', 'there is no body')
        const base = baseUrlOf(raw, app.config.http)
        const answer = ({ id }: { id: string }) => {
          return reply.code(201).send({ id, result_url: `${base}${path}/${id}` })
        }
        const idempotency = readIdempotencyKey({ headers, account, kind: 'pre-recorded', body })
        // Before anything else is judged: what was right then may not be right any more.
        const repeated = idempotency && (await app.jobs.findRepeated(idempotency))
        if (repeated) return answer(repeated)
        const bases = [base, originOf(raw, app.config.http)]
        const submission = await readSubmission(body, { account, bases })
        const job = await app.jobs.submit(account, { ...submission, idempotency })
        log.info({ jobId: job.id }, 'job created')
        return answer(job)
      },
    )
  }
}
