import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { findJob, type JobKind } from '../../../storage/jobs/jobs.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { attachment } from '../../responses/files/send-file.ts'
import { markDeliveredWhenSent } from '../../responses/mark-delivered.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { jobOperations } from '../../schemas/common/operations.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams } from '../../schemas/jobs/job.ts'
import { TranscriptJson } from '../../schemas/transcripts/transcript-edits.ts'

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

const types = {
  txt: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  docx: DOCX,
} as const

const formats = ['txt', 'srt', 'vtt', 'json', 'csv', 'docx'] as const

const TranscriptQuery = Type.Object({
  format: Type.Unsafe<(typeof formats)[number]>({
    type: 'string',
    enum: formats,
    default: 'txt',
  }),
  speakers: Type.Boolean({
    default: true,
    description: 'Names speakers, or else channels, where there are several, counted from 1',
  }),
  words: Type.Boolean({
    default: false,
    description: 'Includes the words, if the format is `json`',
  }),
  edited: Type.Boolean({
    default: true,
    description:
      'Applies the corrections of people, if there are any; with `false`, the transcript is as the machine wrote it',
  }),
})

/**
 * Returns the transcript of a finished job as a file, from the stored words. An extension of the
 * API.
 */
export function transcriptRoute(
  { jobs, storage: { db } }: Pick<App, 'jobs' | 'storage'>,
  { path, kind }: { path: string; kind?: JobKind },
): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  return async (http) => {
    ignoreBodies(http)
    http.get(
      `${path}/:id/transcript`,
      {
        schema: {
          ...jobOperations(kind).transcript,
          params: IdParams,
          querystring: TranscriptQuery,
          response: {
            200: {
              description: 'The file',
              content: {
                'text/plain': { schema: Type.String() },
                'application/x-subrip': { schema: Type.String() },
                'text/vtt': { schema: Type.String() },
                'application/json': { schema: TranscriptJson },
                'text/csv': { schema: Type.String() },
                [DOCX]: { schema: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }) },
              },
            },
            ...errorResponses(400, 404, 422),
          },
        },
      },
      async ({ account, params: { id }, query }, reply) => {
        const { edited: isEdited, ...formOptions } = query
        // The transcripts of an account are written one at a time, because the same threads build
        // the results of other accounts.
        const file = await runInTurn(account, () => {
          return jobs.service.transcript({ id, account, kind }, { ...formOptions, isEdited })
        })
        markDeliveredWhenSent(jobs, reply, { id, account })
        const name = `${await baseNameOf({ id, account })}.${formOptions.format}`
        reply.header('content-disposition', attachment(name))
        return reply.type(types[formOptions.format]).send(file)
      },
    )
  }

  /**
   * Returns the file name of the recording without its extension, or the id of the job if it has
   * none.
   */
  async function baseNameOf(job: { id: string; account: string }): Promise<string> {
    const { file } = (await findJob(db, job)) ?? {}
    return file?.filename?.replace(/(?<=.)\.\w{1,5}$/u, '') || job.id
  }
}
