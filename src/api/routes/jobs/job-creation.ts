import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { readIdempotencyKey } from '../../bodies/idempotency.ts'
import { toSubmission, toSubmissionError } from '../../bodies/submission/to-submission.ts'
import { baseUrlOf, originOf } from '../../responses/urls.ts'
import { setWarnings } from '../../responses/warnings.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { CreationHeaders, creationOperation } from '../../schemas/common/operations.ts'
import { CreatedJob } from '../../schemas/jobs/job.ts'
import { preRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'

/** Creates a pre-recorded job, and responds as soon as the job is stored. */
export function jobCreation(
  app: Pick<App, 'config' | 'storage' | 'jobs'> & { bodies: BodyReader },
  { path }: { path: string },
): FastifyPluginAsyncTypebox {
  const requestBody = preRecordedRequest(app.config)
  return async (http) => {
    http.post(
      path,
      {
        schema: {
          ...creationOperation(path),
          headers: CreationHeaders,
          body: requestBody,
          response: { 201: CreatedJob, ...errorResponses(402, 404, 413, 415, 422) },
        },
      },
      async (request, reply) => {
        const { account, keyId, headers, log, raw } = request
        const base = baseUrlOf(raw, app.config.http)
        const respond = ({ id }: { id: string }) => {
          return reply.code(201).send({ id, result_url: `${base}${path}/${id}` })
        }
        const key = readIdempotencyKey(headers)
        const wantsFingerprint = key !== undefined
        const creation = await app.bodies.read('pre-recorded', request, { wantsFingerprint })
        const { fingerprint = '' } = creation
        setWarnings(reply, creation)
        const idempotency = key === undefined ? undefined : { account, key, fingerprint }
        // This precedes all other checks, because a request that was valid then may no longer be
        // valid.
        const repeated = idempotency && (await app.jobs.service.findByIdempotencyKey(idempotency))
        if (repeated) return respond(repeated)
        const bases = [base, originOf(raw, app.config.http)]
        const submission = await toSubmission(creation, { account, bases }, app)
        // Fails as the submission would, before there is a job.
        setWarnings(reply, creation, app.jobs.service.warningsOf(submission))
        const job = await app.jobs.service
          .submit(account, { ...submission, keyId, idempotency })
          .catch((error) => Promise.reject(toSubmissionError(error)))
        log.info({ jobId: job.id }, 'job created')
        return respond(job)
      },
    )
  }
}
