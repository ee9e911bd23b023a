import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { findFile } from '../../storage/files.ts'
import { findJob, type JobKind, listJobIds } from '../../storage/jobs.ts'
import { pageUrls, writeList } from '../job-list.ts'
import { toJobView } from '../job-view.ts'
import { IdParams, JobList, JobView, ListQuery } from '../schemas/job.ts'
import { sendFile } from '../send-file.ts'
import { baseUrlOf } from '../urls.ts'

/** A list, sent as text that is written while its jobs are loaded. */
const Streamed = Type.Unsafe<Readable>(JobList)

/** Where the routes lie, and which jobs they know. */
export type JobRouteOptions = {
  path: string
  /** The only kind that these routes know; both when absent. */
  kind?: JobKind
}

/** List, get, delete and file, which are the same for every kind of job (contract 2.4 to 2.7). */
export function jobRoutes(
  { config, storage, jobs }: Pick<App, 'config' | 'storage' | 'jobs'>,
  { path, kind }: JobRouteOptions,
): FastifyPluginAsyncTypebox {
  return async (http) => {
    // None of these has a body; what a client sends along is its own affair.
    http.removeAllContentTypeParsers()
    http.addContentTypeParser('*', (_request, _body, done) => done(null))

    http.get(
      path,
      { schema: { querystring: ListQuery, response: { 200: Streamed } } },
      async ({ account, query, raw }, reply) => {
        const { offset } = query
        const limit = Math.min(query.limit, config.http.listMaxLimit)
        const page = await listJobIds(storage.db, { account, kinds: kind && [kind], offset, limit })
        const url = `${baseUrlOf(raw, config.http)}${path}`
        const urls = pageUrls(url, { offset, limit, more: page.more })
        const text = Readable.from(writeList(urls, loadJobs(page.ids, account)))
        return reply.type('application/json; charset=utf-8').send(text)
      },
    )

    http.get(
      `${path}/:id`,
      { schema: { params: IdParams, response: { 200: JobView } } },
      async ({ account, params: { id } }) => toJobView(await requireJob({ id, account })),
    )

    http.delete(
      `${path}/:id`,
      { schema: { params: IdParams } },
      async ({ account, params: { id } }, reply) => {
        await jobs.remove({ id, account, kind })
        return reply.code(202).send()
      },
    )

    http.get(`${path}/:id/file`, { schema: { params: IdParams } }, async (request, reply) => {
      const { account, params } = request
      const job = await requireJob({ id: params.id, account })
      const file = job.file && (await findFile(storage.db, { id: job.file.id, account }))
      if (!file) throw new AppError('file_not_found', 'the job has no audio yet')
      const contentType = 'application/octet-stream'
      return sendFile(request, reply, { file, contentType, objects: storage.objects })
    })
  }

  /** One job at a time: a page may hold a thousand results of a megabyte. One that was deleted meanwhile is left out. */
  async function* loadJobs(ids: readonly string[], account: string): AsyncGenerator<JobView> {
    for (const id of ids) {
      const job = await findJob(storage.db, { id, account })
      if (job) yield toJobView(job)
    }
  }

  async function requireJob({ id, account }: { id: string; account: string }) {
    const job = await findJob(storage.db, { id, account, kind })
    if (!job) throw new AppError('job_not_found', id)
    return job
  }
}
