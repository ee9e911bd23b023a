import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import {
  findJob,
  findJobs,
  type Job,
  type JobKind,
  type JobRef,
} from '../../../storage/jobs/jobs.ts'
import { type ListedJob, listJobs } from '../../../storage/jobs/lists/job-lists.ts'
import { clientAddressOf } from '../../auth/client-address.ts'
import { ignoreBodies } from '../../bodies/receiving/json-body.ts'
import { checkMetadataLength, toFilter, toPageRequest } from '../../lists/list-query.ts'
import { createListScheduler } from '../../lists/list-scheduler.ts'
import { loadInBatches } from '../../lists/load-in-batches.ts'
import { sendList } from '../../lists/send-list.ts'
import { type LazyText, pageUrls, writeList } from '../../lists/write-list.ts'
import { shareReads } from '../../middleware/share-reads.ts'
import { findJobFile } from '../../responses/files/job-file.ts'
import { sendFile } from '../../responses/files/send-file.ts'
import { toJobJson, writeText } from '../../responses/job-json.ts'
import { markDeliveredWhenSent } from '../../responses/mark-delivered.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { listQueryOf } from '../../schemas/common/list-query.ts'
import {
  deletionResponses,
  downloadResponses,
  JobFileQuery,
  jobOperations,
  RangeHeaders,
} from '../../schemas/common/operations.ts'
import { Type } from '../../schemas/common/type.ts'
import { IdParams, jobListOf, jobViewOf } from '../../schemas/jobs/job.ts'
import { addRoutes } from '../add-routes.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** The path of the routes, and the kind of jobs that they serve. */
export type JobRouteOptions = {
  path: string
  /** The only kind that these routes serve; both kinds if absent. */
  kind?: JobKind
}

/** The dependencies of all routes for a kind of jobs. */
type JobRouteDeps = JobRouteOptions & Pick<App, 'config' | 'storage' | 'jobs'>

/**
 * Lists, returns and deletes jobs and returns their recordings, which is the same for both kinds of
 * jobs.
 */
export function jobRoutes(
  { config, storage, jobs }: Pick<App, 'config' | 'storage' | 'jobs'>,
  options: JobRouteOptions,
): FastifyPluginAsyncTypebox {
  const deps = { ...options, config, storage, jobs }
  return async (http) => {
    ignoreBodies(http)
    await addRoutes(http, listRoute(deps), getRoute(deps), deleteRoute(deps), fileRoute(deps))
  }
}

function listRoute({ config, storage, path, kind }: JobRouteDeps): FastifyPluginAsyncTypebox {
  const scheduler = createListScheduler()
  const share = shareReads()
  const schema = {
    ...jobOperations(kind).list,
    querystring: listQueryOf(kind),
    // Sent as text, while the jobs are loaded.
    response: { 200: Type.Unsafe<Readable>(jobListOf(kind)), ...errorResponses(400) },
  }

  return async (http) => {
    http.get(path, { schema }, async ({ account, method, query, raw }, reply) => {
      checkMetadataLength(query, config.requests)
      const limit = Math.min(query.limit, config.http.listMaxLimit)
      const filter = { ...toFilter(query), account, ...(kind && { kinds: [kind] }) }
      const pageRequest = { ...toPageRequest(query, limit), withJobs: true }
      const page = await share({ account, url: raw.url! }, () => {
        return scheduler.page(account, query, () => listJobs(storage.db, filter, pageRequest))
      })
      const urls = pageUrls(`${baseUrlOf(raw, config.http)}${path}`, query, { limit, page })
      // For HEAD, the framework would read the whole list and discard it.
      const rows = method === 'HEAD' ? [] : page.rows
      const texts = loadJobs(rows, { account, omitResult: query.results === false })
      return sendList(reply, writeList(urls, texts))
    })
  }

  /**
   * Loads the jobs that the page does not contain yet, for a few lists of an account at a time: a
   * page may have a thousand jobs of a megabyte. Omits jobs that were deleted in the meantime.
   */
  async function* loadJobs(
    rows: readonly ListedJob[],
    { account, omitResult }: { account: string; omitResult: boolean },
  ): AsyncGenerator<LazyText[]> {
    const load = async (batch: readonly ListedJob[]) => {
      const ids = batch.filter(({ job }) => !job).map(({ id }) => id)
      if (ids.length === 0) return batch.map(({ job }) => job!)
      const foundJobs = await scheduler.load(account, () => findJobs(storage.db, { ids, account }))
      const loaded = new Map(foundJobs.map((job) => [job.id, job]))
      return batch.flatMap(({ id, job = loaded.get(id) }) => job ?? [])
    }
    const { listOmitMessages: omitMessages } = config.http
    for await (const jobs of loadInBatches(rows, load)) {
      yield jobs.map((job) => () => toJobJson(job, storage, { omitMessages, omitResult }))
    }
  }
}

function getRoute({ storage, jobs, path, kind }: JobRouteDeps): FastifyPluginAsyncTypebox {
  const schema = {
    ...jobOperations(kind).get,
    params: IdParams,
    // Sent as text: results are stored as such.
    response: { 200: Type.Unsafe<Readable | string>(jobViewOf(kind)), ...errorResponses(404) },
  }
  return async (http) => {
    http.get(`${path}/:id`, { schema }, async ({ account, params: { id }, method }, reply) => {
      const job = await requireJob(storage, { id, account, kind })
      const text = await toJobJson(job, storage)
      if (!text) throw new AppError('job_not_found', id)
      if (job.zeroRetention && job.completedAt !== null) markDeliveredWhenSent(jobs, reply, job)
      reply.type(JSON_TYPE)
      if (typeof text === 'string') return reply.send(text)
      reply.header('content-length', text.bytes)
      if (method !== 'HEAD') {
        const stream = Readable.from(writeText(text))
        // If a client disconnects at once, the generator never starts, and so never cleans up.
        stream.once('close', () => text.body.destroy())
        return reply.send(stream)
      }
      text.body.destroy()
      // The body is a stream that ends at once, because the framework would set the length of any
      // other empty body to 0.
      return reply.send(Readable.from([]))
    })
  }
}

function deleteRoute({ config, jobs, path, kind }: JobRouteDeps): FastifyPluginAsyncTypebox {
  const schema = { ...jobOperations(kind).remove, params: IdParams, response: deletionResponses }
  return async (http) => {
    http.delete(
      `${path}/:id`,
      { schema },
      async ({ account, scopes, keyId, raw, params: { id } }, reply) => {
        // Routes of both kinds must not bypass the scope of one.
        const deletableKind = kind ?? (scopes.includes('live') ? undefined : 'pre-recorded')
        const address = clientAddressOf(raw, config.http)
        const actor = { source: 'api', keyId, address } as const
        await jobs.service.remove({ id, account, kind: deletableKind }, actor)
        return reply.code(202).send()
      },
    )
  }
}

function fileRoute({ storage, path, kind }: JobRouteDeps): FastifyPluginAsyncTypebox {
  const schema = {
    ...jobOperations(kind).file,
    params: IdParams,
    querystring: JobFileQuery,
    headers: RangeHeaders,
    response: { ...downloadResponses(['application/octet-stream']), ...errorResponses(400) },
  }
  return async (http) => {
    http.get(`${path}/:id/file`, { schema }, async (request, reply) => {
      const { account, params, query } = request
      const job = await requireJob(storage, { id: params.id, account, kind })
      const file = await findJobFile(job, { db: storage.db, redacted: query.redacted ?? false })
      const contentType = 'application/octet-stream'
      return sendFile(request, reply, { file, contentType, objects: storage.objects })
    })
  }
}

async function requireJob({ db }: Pick<App['storage'], 'db'>, ref: JobRef): Promise<Job> {
  const job = await findJob(db, ref)
  if (!job) throw new AppError('job_not_found', ref.id)
  return job
}
