import { setTimeout as sleep } from 'node:timers/promises'
import { commandName } from '../../config/installation.ts'
import { describeConnectionError } from '../../net/connection-error.ts'

/**
 * A failed request. `status` is the HTTP status of the response; undefined if the server was
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

/** The address of a server, its key, and the name of the header that carries the key (`header`). */
export type Server = { url: string; key: string | undefined; header: string }

/** Seconds before each retry while the server is busy or restarts: half a minute in all. */
const RETRY_AFTER = [0.5, 1, 2, 4, 8, 15]

/** The hint when no server listens. */
const START_HINT = `start one with '${commandName} serve', or name another with --server or STENO_URL`

/** The hint after a response that no Steno server sends. */
const NOT_STENO_HINT = 'is the address that of a Steno server?'

type Init = RequestInit & { duplex?: 'half' }
type RetryOptions = { retriesUnreachable?: boolean }

/**
 * `field` is a field that every answer of a Steno server to this request has; otherwise `isAnswer`
 * returns whether a body is one.
 */
type AnswerCheck<T> =
  | { field: keyof T & string; isAnswer?: undefined }
  | { field?: undefined; isAnswer: (body: unknown) => boolean }

type JsonOptions<T> = RetryOptions & AnswerCheck<T>

/** Sends requests to one server. */
export type Transport = ReturnType<typeof createTransport>

/** Creates the transport to one server. Every request ends when `signal` aborts. */
export function createTransport({ url, key, header }: Server, signal: AbortSignal) {
  const base = url.replace(/\/+$/, '')

  async function once(path: string, init: Init): Promise<Response> {
    const headers = { ...init.headers, ...(key ? { [header]: key } : {}) }
    try {
      const signals = init.signal ? AbortSignal.any([signal, init.signal]) : signal
      return await fetch(base + path, { ...init, headers, signal: signals })
    } catch (cause) {
      signal.throwIfAborted()
      const reason = explainNetworkError(cause)
      throw new RequestError(`Cannot reach the server at ${base}: ${reason}`, { cause })
    }
  }

  /**
   * Sends a request, and retries it while the server reports that it is busy, since it has done
   * nothing then. With `retriesUnreachable`, also retries while the server is unreachable: a job
   * outlives a restart.
   */
  async function request(
    path: string,
    init: () => Promise<Init>,
    { retriesUnreachable = false }: RetryOptions = {},
  ) {
    for (const seconds of RETRY_AFTER) {
      const response = await once(path, await init()).catch((error: unknown) => {
        if (!retriesUnreachable || signal.aborted) throw error
      })
      const busy = response?.status === 429 || response?.status === 503
      if (response && !busy) return response
      await response?.body?.cancel()
      const requested = Number(response?.headers.get('retry-after')) || 0
      await sleep(Math.max(seconds, Math.min(requested, 30)) * 1000, undefined, { signal })
    }
    return once(path, await init())
  }

  async function json<T>(path: string, init: Init, options: JsonOptions<T>): Promise<T> {
    return readResponseJson<T>(await request(path, async () => init, options), options)
  }

  /**
   * Sends a request that a Steno server accepts with 202 and no body; doubts the address after
   * another answer.
   */
  async function accepted(path: string, init: Init): Promise<void> {
    const response = await request(path, async () => init)
    const text = await readResponseText(response)
    if (response.status === 202 && text === '') return
    throw new RequestError(`${response.url} returned ${response.status}: ${NOT_STENO_HINT}`)
  }

  return { accepted, json, request, once }
}

async function readResponseText(response: Response): Promise<string> {
  const text = await response.text()
  if (!response.ok)
    throw new RequestError(explainResponse(response, text), { status: response.status })
  return text
}

/**
 * Reads the file in a response; throws a `RequestError` with the server's message if it failed, and
 * one that doubts the address if the response is no file, such as the page of another server.
 */
export async function readResponseFile(response: Response): Promise<Buffer> {
  if (!response.ok) await readResponseText(response)
  if (!response.headers.get('content-disposition')?.startsWith('attachment')) {
    await response.body?.cancel()
    throw new RequestError(`${response.url} returned no file: ${NOT_STENO_HINT}`)
  }
  return Buffer.from(await response.arrayBuffer())
}

/**
 * Reads the JSON of a response; throws a `RequestError` with the server's message if it failed, and
 * one that doubts the address if it is no answer of Steno.
 */
export async function readResponseJson<T>(response: Response, check: AnswerCheck<T>): Promise<T> {
  const text = await readResponseText(response)
  let body: T
  try {
    body = text === '' ? undefined : JSON.parse(text)
  } catch {
    throw new RequestError(`${response.url} returned no JSON: ${NOT_STENO_HINT}`)
  }
  const { field, isAnswer } = check
  if (isAnswer ? isAnswer(body) : body?.[field] !== undefined) return body
  throw new RequestError(`${response.url} returned no ${field ?? 'answer'}: ${NOT_STENO_HINT}`)
}

/**
 * Returns the error message of the server, followed by the validation errors if the message does
 * not contain them; for a response of another server, its status.
 */
function explainResponse({ status, statusText }: Response, text: string): string {
  try {
    const { message, validation_errors: lines = [] } = JSON.parse(text) as {
      message: string
      validation_errors?: string[]
    }
    const hint = status === 401 ? ' (give it with --key or STENO_KEY)' : ''
    if (message) return [`${message}${hint}`, ...(status === 400 ? lines : [])].join('\n')
  } catch {
    // Not JSON: no Steno server wrote this.
  }
  return `The server responded with ${status} ${statusText}: ${NOT_STENO_HINT}`
}

/** Returns why fetch failed, with the code by which people search, and what to do. */
function explainNetworkError(error: unknown): string {
  const cause = ((error as Error).cause ?? error) as { code?: string; message: string }
  const { code, message } = cause
  if (code === undefined) return message
  const hint = code === 'ECONNREFUSED' ? `; ${START_HINT}` : ''
  return `${describeConnectionError(cause).detail} (${code})${hint}`
}
