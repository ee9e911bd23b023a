import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { describeConnectionError } from '../../net/connection-error.ts'
import { isWriteRefusal } from '../files/make-folder.ts'
import { contentError, DownloadError, statusError } from './download-error.ts'
import { PartialFile } from './partial-file.ts'

/** A file to fetch and its destination; its partial content is beside it, in `path.part`. */
export type Download = {
  url: string
  headers: Record<string, string>
  /** Size and SHA-256 (hex) of the right content. */
  bytes: number
  sha256: string
  path: string
}

/** When a download gives up. */
export type DownloadLimits = {
  /** A connection that transfers fewer than `minBytes` in this time is closed. */
  stallMs: number
  minBytes: number
  /** Maximum consecutive attempts without progress. */
  tries: number
  /** The pause before the second attempt; each further one is twice as long. */
  pauseMs: number
}

export type DownloadOptions = {
  /** From `createDownloadClient`. */
  client: Dispatcher
  limits: DownloadLimits
  signal: AbortSignal
  /** Called with the bytes on disk, including those of an earlier process. */
  onBytes(bytes: number): void
  /** Called before the next attempt. */
  onRetry(problem: string): void
}

/**
 * The stall timeout is that of Ollama: hubs pause for seconds while they fetch a file from their
 * storage. Below 1 kB per second, the smallest model would take a day.
 */
export const DOWNLOAD_LIMITS: DownloadLimits = {
  stallMs: 30_000,
  minBytes: 30_000,
  tries: 5,
  pauseMs: 1000,
}

const CONNECT_TIMEOUT_MS = 15_000
const MAX_PAUSE_MS = 60_000
const MAX_REDIRECTS = 5
/**
 * An attempt that gets at least this many bytes further than any before it does not count as a
 * failure. One that restarts and stops at the same byte does.
 */
const PROGRESS_BYTES = 64 * 1024
/** Maximum downloads with wrong content; the repetitions show whether the error is permanent. */
const MAX_DAMAGED = 3

/** Creates the HTTP client of downloads, which honors HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export async function createDownloadClient({ stallMs }: DownloadLimits): Promise<Dispatcher> {
  const { EnvHttpProxyAgent } = await import('undici')
  const connect = { timeout: Math.min(CONNECT_TIMEOUT_MS, stallMs) }
  return new EnvHttpProxyAgent({ headersTimeout: stallMs, bodyTimeout: stallMs, connect })
}

/**
 * Fetches a file, from where an earlier attempt or process ended, and checks its hash. Connections
 * that break or stall are opened again; `DownloadError` says why it gave up. Rejects with the error
 * of the system when the disk refuses the file.
 */
export async function downloadFile(file: Download, options: DownloadOptions): Promise<void> {
  const { bytes, path } = file
  const part = await PartialFile.open(`${path}.part`, { bytes, signal: options.signal })
  try {
    await fetchWhole(file, part, options)
    await part.finish(path)
  } catch (error) {
    await part.close()
    throw error
  }
}

async function fetchWhole(
  file: Download,
  part: PartialFile,
  options: DownloadOptions,
): Promise<void> {
  const { limits, signal, onBytes, onRetry } = options
  let [failures, damaged, furthest] = [0, 0, part.size]
  onBytes(part.size)
  for (;;) {
    try {
      if (part.size < file.bytes) await fetchMissingBytes(file, part, options)
      if (part.digest() === file.sha256) return
      await part.restart()
      onBytes(0)
      damaged++
      furthest = 0
      throw new DownloadError(
        'its SHA-256 is not that of the catalog: the server or a proxy changed it',
        { isTransient: damaged < MAX_DAMAGED },
      )
    } catch (error) {
      signal.throwIfAborted()
      if (isWriteRefusal(error)) throw error
      const problem = toDownloadError(error)
      failures = part.size - furthest >= PROGRESS_BYTES ? 1 : failures + 1
      furthest = Math.max(furthest, part.size)
      if (!problem.isTransient || failures >= limits.tries) throw problem
      onRetry(problem.message)
      const pause = limits.pauseMs * 2 ** (failures - 1)
      const wait = Math.max(pause, problem.retryAfterMs ?? 0)
      await sleep(Math.min(MAX_PAUSE_MS, wait), undefined, { signal })
    }
  }
}

/** Requests the missing bytes and stores them. */
async function fetchMissingBytes(
  file: Download,
  part: PartialFile,
  options: DownloadOptions,
): Promise<void> {
  const response = await requestFile(file, part.size, options)
  const { body } = response
  const checkRate = watchRate(options.limits)
  try {
    await preparePartialFile(response, file, part)
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (part.size + chunk.length > file.bytes) {
        await part.restart()
        throw new DownloadError(
          `it is larger than the ${file.bytes} bytes that the catalog names`,
          {
            isTransient: true,
          },
        )
      }
      await part.append(chunk)
      options.onBytes(part.size)
      checkRate(chunk.length)
    }
  } finally {
    discardBody(body)
  }
  if (part.size < file.bytes) {
    const problem = `it ended after ${part.size} of ${file.bytes} bytes`
    throw new DownloadError(problem, { isTransient: true })
  }
}

/**
 * Returns a function that takes the size of each chunk and throws when the transfer is too slow.
 */
function watchRate({ stallMs, minBytes }: DownloadLimits): (bytes: number) => void {
  let [since, arrived] = [performance.now(), 0]
  return (bytes) => {
    arrived += bytes
    if (performance.now() - since < stallMs) return
    if (arrived < minBytes) {
      const problem = `fewer than ${minBytes} bytes came in ${stallMs / 1000} s`
      throw new DownloadError(problem, { isTransient: true })
    }
    ;[since, arrived] = [performance.now(), 0]
  }
}

/** Follows redirects; the token goes to the first origin only. */
async function requestFile(
  { url, headers }: Download,
  offset: number,
  { client, signal }: DownloadOptions,
): Promise<Dispatcher.ResponseData> {
  const { request: send } = await import('undici')
  const range = offset > 0 ? { range: `bytes=${offset}-` } : {}
  let [address, sentHeaders] = [new URL(url), headers]
  for (let redirects = 0; ; redirects++) {
    const sent = { ...sentHeaders, ...range, 'accept-encoding': 'identity', 'user-agent': 'steno' }
    const response = await send(address, { dispatcher: client, headers: sent, signal })
    const { location } = response.headers
    if (response.statusCode < 300 || response.statusCode >= 400 || typeof location !== 'string') {
      return response
    }
    discardBody(response.body)
    const next = URL.parse(location, address.href)
    if (next === null || !/^https?:$/.test(next.protocol)) {
      throw contentError('redirects to an address that is not http or https')
    }
    if (redirects === MAX_REDIRECTS) {
      throw new DownloadError(`the server redirects more than ${MAX_REDIRECTS} times`, {
        isTransient: false,
      })
    }
    if (address.protocol === 'https:' && next.protocol !== 'https:') {
      throw new DownloadError('the server redirects to an unencrypted address', {
        isTransient: false,
      })
    }
    if (next.origin !== address.origin) sentHeaders = {}
    address = next
  }
}

/**
 * Checks the status and headers of a response; empties the part if the response contains the whole
 * file.
 */
async function preparePartialFile(
  { statusCode, headers }: Dispatcher.ResponseData,
  { bytes }: Download,
  part: PartialFile,
): Promise<void> {
  if (statusCode === 200 || statusCode === 206) requireFileContent(headers, bytes)
  if (statusCode === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(String(headers['content-range'] ?? ''))
    refuseSize(range?.[2] === '*' ? undefined : range?.[2], bytes)
    if (Number(range?.[1]) === part.size) return
    await part.restart()
    throw new DownloadError('the server sent a different range from the requested one', {
      isTransient: true,
    })
  }
  if (statusCode === 416) await part.restart()
  if (statusCode !== 200) {
    const isTransient = statusCode === 416
    const error = statusError(statusCode, String(headers['retry-after'] ?? '') || undefined)
    throw isTransient ? new DownloadError(error.message, { isTransient }) : error
  }
  refuseSize(headers['content-length'], bytes)
  await part.restart()
}

/**
 * Throws for a web page or compressed content: sign-in pages of networks and errors of mirrors have
 * status 200, and some proxies compress.
 */
function requireFileContent(headers: Dispatcher.ResponseData['headers'], bytes: number): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw contentError(`compresses it (${encoding}), which changes its bytes`)
  const isPage = /^text\/html\b/i.test(String(headers['content-type'] ?? ''))
  if (isPage && Number(headers['content-length']) !== bytes)
    throw contentError('sends a web page in place of the file')
}

function refuseSize(announced: string | string[] | undefined, bytes: number): void {
  if (announced === undefined || Number(announced) === bytes) return
  const problem = `the server announces ${announced} bytes, the catalog names ${bytes}`
  throw new DownloadError(problem, { isTransient: true })
}

/** Ends a body that is no longer read. */
function discardBody(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {}) // Destroying the body causes this error.
  body.destroy()
}

function toDownloadError(error: unknown): DownloadError {
  if (error instanceof DownloadError) return error
  const { code, syscall } = error as NodeJS.ErrnoException
  if (/^(open|write|read|ftruncate|fsync|rename)$/.test(syscall ?? '') && code !== 'ECONNRESET') {
    return new DownloadError((error as Error).message, { isTransient: false, cause: error })
  }
  const { detail } = describeConnectionError(error)
  return new DownloadError(detail, { isTransient: true, cause: error })
}
