import { setTimeout as sleep } from 'node:timers/promises'
import { commandName } from '../../config/installation.ts'
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

/**
 * A failed request. `status` is that of the server's answer, undefined when the server was
 * unreachable.
 */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly status: number | undefined

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, { cause })
    this.status = status
  }
}

/** What one recording may be. */
export type Limits = { max_file_bytes: number; max_audio_seconds: number }

/** The address of a server, its key, and the name of the header that carries the key (`header`). */
export type Server = { url: string; key: string | undefined; header: string }

/** A recording to upload, which is reopened for a retry. */
export type Upload = { filename: string; open(): Promise<AsyncIterable<Uint8Array>> }

/** A page of jobs, and the API filters for it. */
export type ListQuery = {
  offset: number
  limit: number
  status?: string
  custom_metadata?: string
}

/** What to search for, in which utterances, and a page of what is found. */
export type SearchRequest = {
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
export type DeliveryQuery = {
  offset: number
  limit: number
  job_id?: string
  endpoint_id?: string
  status?: string
  event?: string
}

/** The failed deliveries to send again: since an ISO date, and of which endpoint or job. */
export type ResendQuery = { since: string; endpoint_id?: string; job_id?: string }

/** Seconds before each retry while the server is busy or restarts: half a minute in all. */
const RETRY_AFTER = [0.5, 1, 2, 4, 8, 15]

/**
 * Seconds that the server may take to answer with the progress of a job that has not ended: one if
 * a few jobs are waited for, more with many, since each answer takes time from their recognition.
 */
const WAIT = { least: 1, most: 5, perJob: 1 / 4 }

/**
 * Seconds between two polls of a job on an older server, which answers at once: an eighth of the
 * time it has taken so far, so that the result comes at most that late.
 */
const POLL = { share: 1 / 8, least: 0.1, most: 1 }

/** All requests of the commands to a server, over its HTTP API. */
export type Client = ReturnType<typeof createClient>

/** Creates a client of one server. Every call ends when `signal` aborts. */
export function createClient(server: Server, signal: AbortSignal) {
  const { json, request, once } = createTransport(server, signal)
  const jobUrl = (id: string) => `/v2/pre-recorded/${encodeURIComponent(id)}`
  let waiting = 0
  return {
    /**
     * Returns whether a server answers there and accepts the key. Rejects when it answers but does
     * not accept it.
     */
    async isRunning(): Promise<boolean> {
      const health = await once('/health', {}).catch(() => undefined)
      if (!health?.ok) return false
      await json('/v2/pre-recorded?limit=1')
      return true
    },
    /** Stores a recording and resolves to the `audio_url` for a job. */
    async upload({ filename, open }: Upload): Promise<string> {
      const boundary = `steno-${crypto.randomUUID()}`
      const response = await request('/v2/upload', async () => ({
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: ReadableStream.from(writeForm({ filename, body: await open() }, boundary)),
        duplex: 'half',
      }))
      const { audio_url } = await readJson<{ audio_url: string }>(response)
      return audio_url
    },
    /** What one recording may be; undefined where an older server does not tell. */
    async limits(): Promise<Limits | undefined> {
      return (await json<{ limits?: Limits }>('/v2/capabilities')).limits
    },
    /** Creates a job and resolves to its id. */
    async create(params: Record<string, unknown>): Promise<string> {
      const { id } = await json<{ id: string }>('/v2/pre-recorded', jsonPost(params))
      return id
    },
    list: (query: ListQuery) => json<ApiPreRecordedJobList>(`/v2/pre-recorded?${toParams(query)}`),
    search: (query: SearchRequest) => json<ApiSearchHits>(`/v2/search?${toParams(query)}`),
    find: (id: string) => json<ApiPreRecordedJob>(jobUrl(id)),
    /** Creates a live session; its `url` is the address of its socket. */
    createLive: (params: Record<string, unknown>) => {
      return json<ApiCreatedSession>('/v2/live', jsonPost(params))
    },
    findLive: (id: string) =>
      json<ApiLiveJob>(`/v2/live/${encodeURIComponent(id)}`, {}, { patient: true }),
    listDeliveries: (query: DeliveryQuery) => {
      return json<ApiDeliveryList>(`/v2/deliveries?${toParams(query)}`)
    },
    usage: (query: Record<string, string>) => {
      return json<ApiUsageReport>(`/v2/usage?${toParams(query)}`)
    },
    findDelivery: (id: string) => json<ApiDelivery>(`/v2/deliveries/${encodeURIComponent(id)}`),
    resendDelivery: (id: string) => {
      const path = `/v2/deliveries/${encodeURIComponent(id)}/resend`
      return json<ApiDelivery>(path, { method: 'POST' })
    },
    testWebhook: (id: string) => {
      const path = `/v2/endpoints/${encodeURIComponent(id)}/test`
      return json<ApiWebhookTest>(path, { method: 'POST' })
    },
    resendFailed: (query: ResendQuery) => {
      return json<{ resent: number }>('/v2/deliveries/resend', jsonPost(query))
    },
    /** Retries a failed add-on of a job, and resolves to its new part of the result. */
    retryAddOn: (id: string, name: string) => {
      const path = `${jobUrl(id)}/addons/${encodeURIComponent(name)}/retry`
      return json<ApiAddOnAnswer>(path, { method: 'POST' })
    },
    /** Cancels a job that waits or runs. */
    async cancel(id: string): Promise<void> {
      await json(`${jobUrl(id)}/cancel`, { method: 'POST' })
    },
    /** Gets the transcript of a job as a file of a format. */
    async transcript(id: string, format: string, { edited }: { edited: boolean }): Promise<Buffer> {
      const path = `${jobUrl(id)}/transcript?${toParams({ format, edited })}`
      return readBytes(await request(path, async () => ({})))
    },
    /** Gets the corrections of a job's transcript. */
    transcriptEdits: (id: string) => json<ApiTranscriptEdits>(`${jobUrl(id)}/transcript/edits`),
    async remove(id: string): Promise<void> {
      await json(jobUrl(id), { method: 'DELETE' })
    },
    /** Waits until a job has ended, well or badly, and resolves to it. */
    async wait(
      id: string,
      onProgress: (progress: ApiJobProgress) => void,
    ): Promise<ApiPreRecordedJob> {
      const patience = () =>
        Math.min(WAIT.most, Math.max(WAIT.least, Math.floor(waiting * WAIT.perJob)))
      waiting++
      try {
        return await waitForJob(json, { url: jobUrl(id), patience, onProgress, signal })
      } finally {
        waiting--
      }
    },
  }
}

/** Asks for the progress of a job until it has ended, and resolves to the job. */
async function waitForJob(
  json: ReturnType<typeof createTransport>['json'],
  {
    url,
    patience,
    onProgress,
    signal,
  }: {
    url: string
    patience: () => number
    onProgress: (progress: ApiJobProgress) => void
    signal: AbortSignal
  },
): Promise<ApiPreRecordedJob> {
  const startedAt = performance.now()
  for (;;) {
    const askedAt = performance.now()
    const path = `${url}/progress?${toParams({ wait: patience() })}`
    const progress = await json<ApiJobProgress>(path, {}, { patient: true })
    if (progress.status === 'done' || progress.status === 'error') break
    onProgress(progress)
    const now = performance.now()
    const seconds = ((now - startedAt) / 1000) * POLL.share
    const pause = Math.min(POLL.most, Math.max(POLL.least, seconds)) - (now - askedAt) / 1000
    if (pause > 0) await sleep(pause * 1000, undefined, { signal })
  }
  return json<ApiPreRecordedJob>(url, {}, { patient: true })
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

/** What a person does when no server listens. */
const START_HINT = `start one with '${commandName} serve', or name another with --server or STENO_URL`

type Init = RequestInit & { duplex?: 'half' }
type Timeout = { patient?: boolean }

function createTransport({ url, key, header }: Server, signal: AbortSignal) {
  const base = url.replace(/\/+$/, '')

  async function once(path: string, init: Init): Promise<Response> {
    const headers = { ...init.headers, ...(key ? { [header]: key } : {}) }
    try {
      return await fetch(base + path, { ...init, headers, signal })
    } catch (cause) {
      signal.throwIfAborted()
      const reason = reasonOf(cause)
      const hint = reason === 'ECONNREFUSED' ? `; ${START_HINT}` : ''
      throw new RequestError(`Cannot reach the server at ${base}: ${reason}${hint}`, { cause })
    }
  }

  /**
   * Sends a request, and retries it while the server reports that it is busy, for then nothing has
   * happened. A patient one is also retried while the server is unreachable: a job outlives a
   * restart.
   */
  async function request(
    path: string,
    init: () => Promise<Init>,
    { patient = false }: Timeout = {},
  ) {
    for (const seconds of RETRY_AFTER) {
      const response = await once(path, await init()).catch((error: unknown) => {
        if (!patient || signal.aborted) throw error
      })
      const busy = response?.status === 429 || response?.status === 503
      if (response && !busy) return response
      await response?.body?.cancel()
      const requested = Number(response?.headers.get('retry-after')) || 0
      await sleep(Math.max(seconds, Math.min(requested, 30)) * 1000, undefined, { signal })
    }
    return once(path, await init())
  }

  async function json<T>(path: string, init: Init = {}, options?: Timeout): Promise<T> {
    return readJson<T>(await request(path, async () => init, options))
  }

  return { json, request, once }
}

async function readText(response: Response): Promise<string> {
  const text = await response.text()
  if (!response.ok) throw new RequestError(explain(response, text), { status: response.status })
  return text
}

async function readBytes(response: Response): Promise<Buffer> {
  if (!response.ok) await readText(response)
  return Buffer.from(await response.arrayBuffer())
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await readText(response)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/**
 * Returns the server's error message, with the lines about fields. For an unknown server, returns
 * its status.
 */
function explain({ status, statusText }: Response, text: string): string {
  try {
    const { message, validation_errors: lines = [] } = JSON.parse(text) as {
      message: string
      validation_errors?: string[]
    }
    const hint = status === 401 ? ' (give it with --key or STENO_KEY)' : ''
    if (message) return [`${message}${hint}`, ...lines].join('\n')
  } catch {
    // Not JSON: no Steno server wrote this.
  }
  return `The server responded with ${status} ${statusText}`
}

/** Returns why fetch failed: the cause holds the system's message. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as {
    cause?: { code?: string; message?: string }
    message: string
  }
  return cause?.code ?? cause?.message ?? message
}

/** Writes a form with one file while it reads the file: an upload of any size takes no memory. */
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
