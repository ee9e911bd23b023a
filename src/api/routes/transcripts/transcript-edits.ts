import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import type { JobKind } from '../../../storage/jobs/jobs.ts'
import type { TranscriptVersion } from '../../../storage/jobs/transcript-edits.ts'
import { keyNameOf } from '../../auth/check-key.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { acceptJson } from '../../bodies/receiving/json-body.ts'
import { toDateTime } from '../../lists/date-time.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { MAX_EDIT_BYTES, MAX_EDIT_VERSIONS } from '../../schemas/common/limits.ts'
import { jobOperations } from '../../schemas/common/operations.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import {
  EditRequest,
  TranscriptEditsView,
  TranscriptVersionView,
} from '../../schemas/transcripts/transcript-edits.ts'

const EditsQuery = Type.Object({
  versions: Type.Integer({
    minimum: 1,
    maximum: MAX_EDIT_VERSIONS,
    default: 100,
    description: 'The number of versions to list, newest first',
  }),
})

/** Reads and adds corrections of a transcript. An extension of the API. */
export function transcriptEditRoutes(
  { storage, jobs, bodies }: Pick<App, 'storage' | 'jobs'> & { bodies: BodyReader },
  { path, kind }: { path: string; kind?: JobKind },
): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  const operations = jobOperations(kind)
  return async (http) => {
    acceptJson(http, { maxBytes: MAX_EDIT_BYTES })
    http.get(
      `${path}/:id/transcript/edits`,
      {
        schema: {
          ...operations.edits,
          params: IdParams,
          querystring: EditsQuery,
          response: {
            200: Type.Unsafe<string>(TranscriptEditsView),
            ...errorResponses(400, 404, 422),
          },
        },
      },
      async ({ account, params: { id }, query }, reply) => {
        const job = { id, account, kind }
        // The corrections of an account are read one at a time, in the same threads as transcripts.
        const { version, versions, effective } = await runInTurn(account, () => {
          return jobs.service.transcriptEdits(job, { limit: query.versions })
        })
        const head = JSON.stringify({ version, versions: versions.map(viewVersion) })
        reply.type('application/json; charset=utf-8')
        return reply.send(`${head.slice(0, -1)},"edits":${effective}}`)
      },
    )

    http.patch(
      `${path}/:id/transcript/edits`,
      {
        schema: {
          ...operations.edit,
          params: IdParams,
          body: EditRequest,
          response: { 200: TranscriptVersionView, ...errorResponses(404, 409, 413, 415, 422) },
        },
      },
      async (request) => {
        const { account, keyHash, params } = request
        const correction = await bodies.read('edits', request)
        const keyName = await keyNameOf(storage.db, keyHash)
        const newVersion = await runInTurn(account, () => {
          const job = { id: params.id, account, kind }
          return jobs.service.correctTranscript(job, { ...correction, keyName })
        })
        return viewVersion(newVersion)
      },
    )
  }
}

function viewVersion({ version, createdAt, keyName, operations, restored }: TranscriptVersion) {
  const at = { version, created_at: toDateTime(createdAt) }
  return { ...at, key_name: keyName, operations, restored }
}
