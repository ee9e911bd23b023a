import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../is-object.ts'
import { UsageError } from '../terminal/arguments.ts'
import type {
  ApiAddOnAnswer,
  ApiCreatedSession,
  ApiDelivery,
  ApiDeliveryList,
  ApiJobProgress,
  ApiLiveJob,
  ApiPreRecordedJob,
  ApiPreRecordedJobList,
  ApiSearchHits,
  ApiTranscriptEdits,
  ApiUsageReport,
  ApiWebhookTest,
} from './api-types.ts'
import {
  createTransport,
  readResponseFile,
  readResponseJson,
  type Server,
  type Transport,
} from './transport.ts'

/** The limits of one recording. */
export type RecordingLimits = { max_file_bytes: number; max_audio_seconds: number }

type LanguageList = { languages: readonly string[] }

/** The capabilities of a server; older servers report fewer. */
export type ServerCapabilities = {
  limits?: RecordingLimits
  recognition?: LanguageList
  models?: { installed: readonly LanguageList[]; available: readonly LanguageList[] }
}

/** A recording to upload, which is reopened for a retry. */
export type UploadSource = { filename: string; open(): Promise<AsyncIterable<Uint8Array>> }

/** A page of jobs, and the API filters for it. */
export type JobListOptions = {
  offset: number
  limit: number
  status?: string
  custom_metadata?: string
}

/** A search query, filters for utterances, and a page of the hits. */
export type SearchParams = {
  q: string
  offset: number
  limit: number
  language?: string
  speaker?: number
  speaker_name?: string
  kind?: string
  after_date?: string
  before_date?: string
  custom_metadata?: string
}

/** A page of deliveries, and the API filters for it. */
export type DeliveryListOptions = {
  offset: number
  limit: number
  job_id?: string
  endpoint_id?: string
  status?: string
  event?: string
}

/** Selects the failed deliveries to resend: since an ISO date, of an endpoint or job. */
export type ResendQuery = { since: string; endpoint_id?: string; job_id?: string }

/**
 * Seconds that the server may hold a request for the progress of a job that has not ended: one if
 * few jobs are awaited, more if many are, since each response takes time from their recognition.
 */
const WAIT = { min: 1, max: 5, perJob: 1 / 4 }

/**
 * Seconds between two polls of a job on an older server, which responds at once: an eighth of the
 * time so far, so that the result is late by at most that share.
 */
const POLL = { share: 1 / 8, min: 0.1, max: 1 }

/** How long to wait for a health check: Steno answers at once, another program maybe never. */
const HEALTH_MS = 10_000

/** A client of the HTTP API, with all requests that the commands send. */
export type Client = ReturnType<typeof createClient>

/** Creates a client of one server. Every call ends when `signal` aborts. */
export function createClient(server: Server, signal: AbortSignal) {
  const transport = createTransport(server, signal)
  return {
    ...serverRequests(transport),
    ...jobRequests(transport, signal),
    ...resultRequests(transport),
    ...liveRequests(transport),
    ...deliveryRequests(transport),
  }
}

function serverRequests({ json, once }: Transport) {
  return {
    /**
     * Returns whether a server responds and accepts the key. Rejects when it responds but refuses
     * the key.
     */
    async isRunning(): Promise<boolean> {
      const health = await once('/health', { signal: AbortSignal.timeout(HEALTH_MS) }).catch(
        () => undefined,
      )
      if (!health?.ok) return false
      await json<ApiPreRecordedJobList>('/v2/pre-recorded?limit=1', {}, { field: 'items' })
      return true
    },
    capabilities: () => json<ServerCapabilities>('/v2/capabilities', {}, { isAnswer: isObject }),
    usage: (query: Record<string, string>) => {
      return json<ApiUsageReport>(`/v2/usage?${toParams(query)}`, {}, { field: 'by' })
    },
  }
}

function jobRequests(transport: Transport, signal: AbortSignal) {
  const { accepted, json, request } = transport
  let waiting = 0
  const timeout = () => Math.min(WAIT.max, Math.max(WAIT.min, Math.floor(waiting * WAIT.perJob)))
  return {
    /** Stores a recording and resolves to the `audio_url` for a job. */
    async upload({ filename, open }: UploadSource): Promise<string> {
      const boundary = `steno-${crypto.randomUUID()}`
      const response = await request('/v2/upload', async () => ({
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: ReadableStream.from(writeForm({ filename, body: await open() }, boundary)),
        duplex: 'half',
      }))
      const { audio_url } = await readResponseJson<{ audio_url: string }>(response, {
        field: 'audio_url',
      })
      return audio_url
    },
    /** Creates a job and resolves to its id. */
    async create(params: Record<string, unknown>): Promise<string> {
      const { id } = await json<{ id: string }>('/v2/pre-recorded', jsonPost(params), {
        field: 'id',
      })
      return id
    },
    list: (query: JobListOptions) =>
      json<ApiPreRecordedJobList>(`/v2/pre-recorded?${toParams(query)}`, {}, { field: 'items' }),
    find: (id: string) => json<ApiPreRecordedJob>(jobUrl(id), {}, { field: 'id' }),
    /** Cancels a job that waits or runs. */
    async cancel(id: string): Promise<void> {
      await accepted(`${jobUrl(id)}/cancel`, { method: 'POST' })
    },
    async remove(id: string): Promise<void> {
      await accepted(jobUrl(id), { method: 'DELETE' })
    },
    /** Waits until a job has ended, done or failed, and resolves to it. */
    async wait(
      id: string,
      onProgress: (progress: ApiJobProgress) => void,
    ): Promise<ApiPreRecordedJob> {
      waiting++
      try {
        return await waitForJob(transport, { url: jobUrl(id), timeout, onProgress, signal })
      } finally {
        waiting--
      }
    },
  }
}

function resultRequests({ json, request }: Transport) {
  return {
    search: (query: SearchParams) =>
      json<ApiSearchHits>(`/v2/search?${toParams(query)}`, {}, { field: 'items' }),
    /** Returns the transcript of a job as a file in a format. */
    async transcript(id: string, format: string, { edited }: { edited: boolean }): Promise<Buffer> {
      const path = `${jobUrl(id)}/transcript?${toParams({ format, edited })}`
      return readResponseFile(await request(path, async () => ({})))
    },
    /** Returns the corrections of a job's transcript. */
    transcriptEdits: (id: string) =>
      json<ApiTranscriptEdits>(`${jobUrl(id)}/transcript/edits`, {}, { field: 'versions' }),
    /** Retries a failed add-on of a job, and resolves to its new response. */
    retryAddOn: (id: string, name: string) => {
      const path = `${jobUrl(id)}/addons/${pathPart(name)}/retry`
      return json<ApiAddOnAnswer>(path, { method: 'POST' }, { isAnswer: isAddOnAnswer })
    },
  }
}

function liveRequests({ json }: Transport) {
  return {
    /** Creates a live session; its `url` is the address of its socket. */
    createLive: (params: Record<string, unknown>) => {
      return json<ApiCreatedSession>('/v2/live', jsonPost(params), { field: 'id' })
    },
    findLive: (id: string) =>
      json<ApiLiveJob>(`/v2/live/${pathPart(id)}`, {}, { retriesUnreachable: true, field: 'id' }),
  }
}

function deliveryRequests({ json }: Transport) {
  return {
    listDeliveries: (query: DeliveryListOptions) => {
      return json<ApiDeliveryList>(`/v2/deliveries?${toParams(query)}`, {}, { field: 'items' })
    },
    findDelivery: (id: string) =>
      json<ApiDelivery>(`/v2/deliveries/${pathPart(id)}`, {}, { field: 'id' }),
    resendDelivery: (id: string) => {
      const path = `/v2/deliveries/${pathPart(id)}/resend`
      return json<ApiDelivery>(path, { method: 'POST' }, { field: 'id' })
    },
    resendFailed: (query: ResendQuery) => {
      return json<{ resent: number }>('/v2/deliveries/resend', jsonPost(query), { field: 'resent' })
    },
    testWebhook: (id: string) => {
      const path = `/v2/endpoints/${pathPart(id)}/test`
      return json<ApiWebhookTest>(path, { method: 'POST' }, { field: 'delivery_id' })
    },
  }
}

function jobUrl(id: string): string {
  return `/v2/pre-recorded/${pathPart(id)}`
}

/** Returns whether a body is the result of an add-on: subtitles are a list of files. */
function isAddOnAnswer(body: unknown): boolean {
  return Array.isArray(body) ? body.every(isObject) : isObject(body) && 'success' in body
}

/**
 * Encodes an id as a part of a path. Throws a `UsageError` for dots, which would lead to another
 * path, such as that of the list.
 */
function pathPart(id: string): string {
  if (/^\.{1,2}$/.test(id)) throw new UsageError(`'${id}' is not an ID`)
  return encodeURIComponent(id)
}

/** Requests the progress of a job until it has ended, and resolves to the job. */
async function waitForJob(
  { json }: Transport,
  {
    url,
    timeout,
    onProgress,
    signal,
  }: {
    url: string
    timeout: () => number
    onProgress: (progress: ApiJobProgress) => void
    signal: AbortSignal
  },
): Promise<ApiPreRecordedJob> {
  const startedAt = performance.now()
  for (;;) {
    const requestedAt = performance.now()
    const path = `${url}/progress?${toParams({ wait: timeout() })}`
    const progress = await json<ApiJobProgress>(
      path,
      {},
      { retriesUnreachable: true, field: 'status' },
    )
    if (progress.status === 'done' || progress.status === 'error') break
    onProgress(progress)
    const now = performance.now()
    const seconds = ((now - startedAt) / 1000) * POLL.share
    const pause = Math.min(POLL.max, Math.max(POLL.min, seconds)) - (now - requestedAt) / 1000
    if (pause > 0) await sleep(pause * 1000, undefined, { signal })
  }
  return json<ApiPreRecordedJob>(url, {}, { retriesUnreachable: true, field: 'id' })
}

function toParams(query: Record<string, string | number | boolean>): URLSearchParams {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) params.append(name, String(value))
  return params
}

function jsonPost(body: Record<string, unknown>): RequestInit {
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

/**
 * Yields a multipart form with one file while it reads the file, so that large uploads take no
 * memory.
 */
async function* writeForm(
  { filename, body }: { filename: string; body: AsyncIterable<Uint8Array> },
  boundary: string,
) {
  const name = filename.replace(/["\r\n]/g, (character) => encodeURIComponent(character))
  const disposition = `content-disposition: form-data; name="audio"; filename="${name}"`
  yield Buffer.from(
    `--${boundary}\r\n${disposition}\r\ncontent-type: application/octet-stream\r\n\r\n`,
  )
  yield* body
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}
