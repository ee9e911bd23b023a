import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiLiveSession, CreatedSession } from '../live/live-api-types.ts'
import type { ApiDelivery, DeliveryList } from '../webhooks/delivery-api-types.ts'
import type { ApiJob, ApiRetry, JobList, ProgressView } from './api-types.ts'

/** A request that failed. `status` is the server's answer, undefined when it could not be reached. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly status: number | undefined

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, { cause })
    this.status = status
  }
}

/** Where a server is, and the key to it. `header` is the name of the header that carries the key. */
export type Server = { url: string; key: string | undefined; header: string }

/** A recording on its way to the server; opened again when it must be sent again. */
export type Upload = { filename: string; open(): Promise<AsyncIterable<Uint8Array>> }

/** A page of jobs, and the filters of the API that its jobs pass. */
export type ListQuery = {
  offset: number
  limit: number
  status?: string
  custom_metadata?: string
}

/** A page of deliveries, and the filters of the API that they pass. */
export type DeliveryQuery = {
  offset: number
  limit: number
  job_id?: string
  endpoint_id?: string
  status?: string
  event?: string
}

/** Which failed deliveries are to be sent again: since an ISO date, and of whom. */
export type ResendQuery = { since: string; endpoint_id?: string; job_id?: string }

/** How long a request is tried again while the server is busy or restarts, in seconds: half a minute in all. */
const RETRY_AFTER = [0.5, 1, 2, 4, 8, 15]

/** Seconds between two looks at a job: quick at first, since short recordings are done in a second. */
const POLL_SECONDS = { first: 0.2, most: 1 }

/** Everything the commands ask of a server, over its HTTP API. */
export type Client = ReturnType<typeof createClient>

/** Makes a client of one server; every call ends when `signal` aborts. */
export function createClient(server: Server, signal: AbortSignal) {
  const { json, ask, once } = createTransport(server, signal)
  const jobUrl = (id: string) => `/v2/pre-recorded/${encodeURIComponent(id)}`
  return {
    /** Whether a server answers there and takes the key; rejects when it is there and does not. */
    async isRunning(): Promise<boolean> {
      const health = await once('/health', {}).catch(() => undefined)
      if (!health?.ok) return false
      await json('/v2/pre-recorded?limit=1')
      return true
    },
    /** Stores a recording and resolves to the `audio_url` that a job takes. */
    async upload({ filename, open }: Upload): Promise<string> {
      const boundary = `steno-${crypto.randomUUID()}`
      const response = await ask('/v2/upload', async () => ({
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: ReadableStream.from(writeForm({ filename, body: await open() }, boundary)),
        duplex: 'half',
      }))
      const { audio_url } = await readJson<{ audio_url: string }>(response)
      return audio_url
    },
    /** Creates a job and resolves to its id. */
    async create(params: Record<string, unknown>): Promise<string> {
      const { id } = await json<{ id: string }>('/v2/pre-recorded', jsonPost(params))
      return id
    },
    list: (query: ListQuery) => json<JobList>(`/v2/pre-recorded?${toParams(query)}`),
    find: (id: string) => json<ApiJob>(jobUrl(id)),
    /** Creates a live session, whose socket is where its `url` says. */
    createLive: (params: Record<string, unknown>) => {
      return json<CreatedSession>('/v2/live', jsonPost(params))
    },
    findLive: (id: string) =>
      json<ApiLiveSession>(`/v2/live/${encodeURIComponent(id)}`, {}, { patient: true }),
    listDeliveries: (query: DeliveryQuery) => {
      return json<DeliveryList>(`/v2/deliveries?${toParams(query)}`)
    },
    findDelivery: (id: string) => json<ApiDelivery>(`/v2/deliveries/${encodeURIComponent(id)}`),
    resendDelivery: (id: string) => {
      const path = `/v2/deliveries/${encodeURIComponent(id)}/resend`
      return json<ApiDelivery>(path, { method: 'POST' })
    },
    resendFailed: (query: ResendQuery) => {
      return json<{ resent: number }>('/v2/deliveries/resend', jsonPost(query))
    },
    /** Makes an add-on of a job again that had failed, and resolves to what stands in the result now. */
    retryAddOn: (id: string, name: string) => {
      const path = `${jobUrl(id)}/addons/${encodeURIComponent(name)}/retry`
      return json<ApiRetry>(path, { method: 'POST' })
    },
    async remove(id: string): Promise<void> {
      await json(jobUrl(id), { method: 'DELETE' })
    },
    /** Waits until a job has ended, well or badly, and resolves to it. */
    async wait(id: string, onProgress: (progress: ProgressView) => void): Promise<ApiJob> {
      for (let pause = POLL_SECONDS.first; ; pause = Math.min(POLL_SECONDS.most, pause * 1.5)) {
        const progress = await json<ProgressView>(`${jobUrl(id)}/progress`, {}, { patient: true })
        if (progress.status === 'done' || progress.status === 'error') break
        onProgress(progress)
        await sleep(pause * 1000, undefined, { signal })
      }
      return json<ApiJob>(jobUrl(id), {}, { patient: true })
    },
  }
}

function toParams(query: Record<string, string | number>): URLSearchParams {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) params.append(name, String(value))
  return params
}

function jsonPost(body: Record<string, unknown>): RequestInit {
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

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
      throw new RequestError(`Cannot reach the server at ${base}: ${reasonOf(cause)}`, { cause })
    }
  }

  /**
   * A request, repeated while the server says that it is busy: nothing has happened then. A patient
   * one is repeated while the server cannot be reached, too: a job outlives a restart.
   */
  async function ask(path: string, init: () => Promise<Init>, { patient = false }: Timeout = {}) {
    for (const seconds of RETRY_AFTER) {
      const response = await once(path, await init()).catch((error: unknown) => {
        if (!patient || signal.aborted) throw error
      })
      const busy = response?.status === 429 || response?.status === 503
      if (response && !busy) return response
      await response?.body?.cancel()
      const wished = Number(response?.headers.get('retry-after')) || 0
      await sleep(Math.max(seconds, Math.min(wished, 30)) * 1000, undefined, { signal })
    }
    return once(path, await init())
  }

  async function json<T>(path: string, init: Init = {}, options?: Timeout): Promise<T> {
    return readJson<T>(await ask(path, async () => init, options))
  }

  return { json, ask, once }
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text()
  if (!response.ok) throw new RequestError(explain(response, text), { status: response.status })
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** The server's own words, with the lines about fields; or, from a stranger, its status. */
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
  return `The server answered ${status} ${statusText}`
}

/** Why fetch failed: the system's word for it stands in the cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as {
    cause?: { code?: string; message?: string }
    message: string
  }
  return cause?.code ?? cause?.message ?? message
}

/** A form with one file, written as it is read: an upload of any size takes no memory. */
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
