import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { describeConnectionError } from './connection-error.ts'
import { parseRetryAfter } from './retry-after.ts'

/** A service at an address that the operator configured. */
export type ServiceOptions = {
  /** The address before the path of each request. */
  url: string
  /** Sent as a bearer token. */
  apiKey: string | undefined
  /** Called before a request is retried, with the problem. */
  onRetry?: ((problem: string) => void) | undefined
  /** The pause before the second attempt; each further one is twice as long. For tests. */
  pauseMs?: number
}

/** One request: its whole body, so that it can be sent again. */
export type ServicePost = {
  path: string
  contentType: string
  body: Uint8Array
  signal: AbortSignal
  /**
   * Seconds that each attempt may take, from the connection to the last byte; with `stream`, from
   * the connection to the first progress, and between two of them.
   */
  timeout: number
  /** Maximum attempts. */
  tries: number
  /**
   * Whether the request may be executed twice: it is retried after a timeout or a broken response.
   * Default: true; false where each request costs money.
   */
  isIdempotent?: boolean
  /**
   * Reads a response with status 200 while it arrives; the `text` of the result is then empty. For
   * requests that are not idempotent.
   */
  stream?: StreamReader
}

/** A reader of a response that arrives chunk by chunk. */
export type StreamReader = {
  /**
   * Returns the kind of a chunk; it is not called after `done` or a problem. It limits the memory
   * that it uses.
   */
  read(chunk: string): ReadOutcome
  /** Seconds that the whole response may take, whatever progress it makes. */
  maxSeconds: number
}

/** The kind of a chunk of a response. Only `progress` extends the time of the response. */
export type ReadOutcome = 'waiting' | 'progress' | 'done' | { problem: string }

/** What the service responded, or why there is no response that can be used. */
export type ServiceResponse = { status: number; text: string } | { problem: string }

/** A client of one service. */
export type ServiceClient = {
  post(request: ServicePost): Promise<ServiceResponse>
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 10_000
const PAUSE_MS = 500
/** The longest pause: rate limits count requests per minute. */
const MAX_PAUSE_MS = 120_000
/** Half a minute of speech has 10 kB of words with their times. */
const MAX_RESPONSE_BYTES = 1024 * 1024
const MAX_HEADER_BYTES = 32 * 1024
/**
 * A connection is reused after a response if at most this many bytes remain and arrive within this
 * time.
 */
const MAX_REUSED_BYTES = 128 * 1024
const REST_MS = 100

/**
 * Creates a client that sends a request again, after a pause, when the response is 429 or 5xx or
 * the connection fails. `Retry-After` is honored; a request is given up at once where that is later
 * than all its attempts. The client connects to the configured address only, which may be in the
 * operator's own network, and follows no redirects. Honors HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
 */
export function createServiceClient(options: ServiceOptions): ServiceClient {
  let agent: Promise<Dispatcher> | undefined
  return {
    async post(request) {
      agent ??= createAgent()
      const { signal, tries } = request
      for (let failures = 1; ; failures++) {
        const attempt = await send(await agent, request, options)
        signal.throwIfAborted()
        if (!('again' in attempt)) return attempt
        const { problem, again } = attempt
        const remaining = tries - failures
        if (remaining === 0 || again.afterMs > remaining * MAX_PAUSE_MS) return { problem }
        options.onRetry?.(problem)
        const pause = (options.pauseMs ?? PAUSE_MS) * 2 ** (failures - 1)
        const jitter = (Math.random() * pause) / 2
        const wait = Math.min(MAX_PAUSE_MS, Math.max(pause + jitter, again.afterMs))
        await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted())
      }
    },
    async close() {
      await (await agent)?.destroy()
    },
  }
}

async function createAgent(): Promise<Dispatcher> {
  // Imported on first use: a server without such a service starts faster without these modules.
  const { EnvHttpProxyAgent } = await import('undici')
  const connect = { timeout: CONNECT_TIMEOUT_MS }
  return new EnvHttpProxyAgent({ connect, maxHeaderSize: MAX_HEADER_BYTES })
}

/** `again`: the next attempt may succeed, after `afterMs` milliseconds at the earliest. */
type PostOutcome = ServiceResponse | { problem: string; again: { afterMs: number } }

async function send(
  agent: Dispatcher,
  post: ServicePost,
  { url, apiKey }: ServiceOptions,
): Promise<PostOutcome> {
  const { path, contentType, body, signal, timeout, isIdempotent = true, stream } = post
  const { request } = await import('undici')
  const clock = startClock(post)
  let hasResponse = false
  try {
    const response = await request(`${url}${path}`, {
      method: 'POST',
      dispatcher: agent,
      signal: AbortSignal.any([signal, clock.signal]),
      headersTimeout: timeout * 1000,
      bodyTimeout: timeout * 1000,
      headers: {
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        'content-type': contentType,
        'user-agent': 'steno',
        accept: stream ? 'text/event-stream, application/json' : 'application/json',
        'accept-encoding': 'identity',
      },
      body,
    })
    hasResponse = true
    if (stream && response.statusCode === 200) return await readStream(response, stream, clock)
    return await receiveResponse(response)
  } catch (error) {
    const late = clock.problem()
    const problem = late ?? describeConnectionError(error).detail
    const mayHaveRun = hasResponse || late !== undefined
    return mayHaveRun && !isIdempotent ? { problem } : { problem, again: { afterMs: 0 } }
  } finally {
    clock.stop()
  }
}

/** Starts the timers that abort an attempt; `problem` returns the reason. */
function startClock({ timeout, stream }: ServicePost) {
  const late = new AbortController()
  let hasProgress = false
  let problem: string | undefined
  const end = (reason: string) => {
    problem ??= reason
    late.abort()
  }
  const idle = setTimeout(() => {
    end(
      hasProgress
        ? `its response stalled for ${timeout} s`
        : `it did not respond within ${timeout} s`,
    )
  }, timeout * 1000)
  const wholeBody =
    stream &&
    setTimeout(end, stream.maxSeconds * 1000, `it took longer than ${stream.maxSeconds} s`)
  return {
    signal: late.signal,
    problem: () => problem,
    progress() {
      hasProgress = true
      idle.refresh()
    },
    stop() {
      clearTimeout(idle)
      clearTimeout(wholeBody)
    },
  }
}

async function readStream(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  { read }: StreamReader,
  clock: { progress(): void },
): Promise<ServiceResponse> {
  const decoder = decoderOf(headers['content-type'])
  for await (const part of body.iterator({ destroyOnReturn: false })) {
    const chunk = decodeText(decoder, part as Uint8Array, { stream: true })
    const reading = typeof chunk === 'string' ? read(chunk) : chunk
    if (reading === 'progress') clock.progress()
    if (reading === 'done') break
    if (typeof reading === 'object') {
      body.on('error', () => {}).destroy()
      return reading
    }
  }
  // If the rest arrives at once, the connection is free for the next request.
  const signal = AbortSignal.timeout(REST_MS)
  await body.dump({ limit: MAX_REUSED_BYTES, signal }).catch(() => {})
  return { status, text: '' }
}

function decodeText(
  decoder: ReturnType<typeof decoderOf>,
  bytes: Uint8Array,
  options: { stream: boolean },
): string | { problem: string } {
  try {
    return decoder.decode(bytes, options)
  } catch {
    return { problem: `its response is not text in ${decoder.encoding}` }
  }
}

async function receiveResponse({ statusCode, headers, body }: Dispatcher.ResponseData) {
  const isOverloaded = statusCode === 429 || statusCode >= 500
  const isRedirect = statusCode >= 300 && statusCode < 400
  if (isOverloaded || isRedirect) {
    body.on('error', () => {}) // The remaining body is not read.
    body.destroy()
  }
  if (isOverloaded) {
    const header = headers['retry-after']
    const text = typeof header === 'string' ? header : undefined
    const again = { afterMs: parseRetryAfter(text, { now: Date.now() }) ?? 0 }
    return { problem: `it responds with ${statusCode}`, again }
  }
  if (isRedirect) return { problem: `it redirects (${statusCode}), which is not followed` }
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength
    if (bytes > MAX_RESPONSE_BYTES) {
      return { problem: `its response is larger than ${MAX_RESPONSE_BYTES} bytes` }
    }
    parts.push(part)
  }
  const decoder = decoderOf(headers['content-type'])
  const text = decodeText(decoder, Buffer.concat(parts), { stream: false })
  return typeof text === 'string' ? { status: statusCode, text } : text
}

/**
 * Returns a decoder that fails on invalid bytes. JSON is UTF-8, but some servers state another
 * charset.
 */
function decoderOf(contentType: string | string[] | undefined) {
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s";]+)/i.exec(`${contentType}`) ?? []
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    return new TextDecoder('utf-8', { fatal: true })
  }
}
