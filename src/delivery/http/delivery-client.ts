import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from 'node:http'
import { Agent as HttpsAgent, request as requestSecurely } from 'node:https'
import { pipeline, Readable } from 'node:stream'
import type { AddressGuard } from '../../net/address-guard.ts'
import { createGuardedLookup } from '../../net/dns/guarded-lookup.ts'
import type { Resolve } from '../../net/dns/resolver.ts'
import { limitResponse } from './limit-response.ts'
import { readResponseExcerpt } from './response-excerpt.ts'

/**
 * Idle connections are kept for less than the five seconds after which many servers close theirs.
 */
const KEEP_ALIVE_MS = 4000
/** A receiver that has accepted no connection within this time is down. */
const CONNECT_TIMEOUT_MS = 10_000
/** The head of a response decides the outcome; its body is only for the log. */
const EXCERPT_TIMEOUT_MS = 250
/** Maximum size of the response headers: four times what most proxies forward. */
const MAX_HEADER_BYTES = 32 * 1024
/**
 * Maximum number of response headers; further ones are dropped, since thousands of empty ones fit
 * into the byte limit.
 */
const MAX_HEADERS = 200

/** A request to a checked address. A user name and password in the URL are not sent. */
export type DeliveryRequest = {
  url: URL
  /** The account that the request belongs to. */
  account: string
  method: string
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array>
  /** The length of the body in bytes. */
  bytes: number
  signal: AbortSignal
}

/** A response whose head has arrived. */
export type DeliveryResponse = {
  status: number
  headers: Record<string, string>
  /**
   * Returns the beginning of the body, see `readResponseExcerpt`. Must be called, because it
   * releases the connection.
   */
  excerpt(): Promise<string>
}

/** Sends requests over connections that are kept alive briefly. */
export type DeliveryClient = {
  /**
   * Rejects if there is no response: if aborted, or with an error that `describeConnectionError`
   * explains.
   */
  send(request: DeliveryRequest): Promise<DeliveryResponse>
  /** Closes all connections. */
  close(): void
}

/**
 * Creates the HTTP client of deliveries. Every connection is checked when it is made, no redirect
 * is followed, and the cost of a response is limited, whatever it contains. Uses Node's own client,
 * because its parser limits heads and chunk extensions without an object for each.
 */
export function createDeliveryClient(guard: AddressGuard, resolve: Resolve): DeliveryClient {
  const options = { keepAlive: true, timeout: KEEP_ALIVE_MS }
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) }
  return {
    send({ url, account, method, headers: eventHeaders, body, bytes, signal }) {
      const lookup = createGuardedLookup(guard, { resolve, account })
      const headers = { ...eventHeaders, 'content-length': String(bytes) }
      const isSecure = url.protocol === 'https:'
      const start = isSecure ? requestSecurely : request
      const clientRequest = start(new URL(`${url.origin}${url.pathname}${url.search}`), {
        method,
        headers,
        lookup,
        signal,
        maxHeaderSize: MAX_HEADER_BYTES,
        agent: isSecure ? agents.https : agents.http,
        insecureHTTPParser: false,
      })
      clientRequest.maxHeadersCount = MAX_HEADERS
      limitConnectTime(clientRequest, isSecure ? 'secureConnect' : 'connect')
      const response = responseOf(clientRequest)
      // Failures of the pipeline are reported as an error of the request.
      pipeline(
        Readable.from(checkLength(body, bytes), { objectMode: false }),
        clientRequest,
        () => {},
      )
      return response
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/**
 * Yields a body, and throws if its length differs from the declared one, so that it does not run
 * into the next request.
 */
async function* checkLength(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Uint8Array> {
  let remainingBytes = bytes
  for await (const chunk of body) {
    remainingBytes -= chunk.length
    if (remainingBytes < 0) break
    yield chunk
  }
  if (remainingBytes !== 0) throw new RangeError('the body is not as long as its content-length')
}

function responseOf(clientRequest: ClientRequest): Promise<DeliveryResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<DeliveryResponse>()
  const release = limitResponse(clientRequest)
  // Node reports no error for a response that switches to another protocol; it only closes the
  // request.
  clientRequest.once('close', () => {
    reject(Object.assign(new Error('closed without a response'), { code: 'ECONNRESET' }))
  })
  // The listener stays after the response: a connection may break off at any time.
  clientRequest.on('error', reject).on('response', (response) => {
    const headers = Object.entries(response.headersDistinct).map(([name, values = []]) => {
      return [name, values.join(', ')] as const
    })
    resolve({
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(headers),
      async excerpt() {
        const text = await readResponseExcerpt(response, { timeout: EXCERPT_TIMEOUT_MS })
        release()
        if (!isReusable(clientRequest, response)) clientRequest.destroy()
        return text
      },
    })
  })
  return promise
}

/**
 * Returns whether the connection can be reused: a receiver may respond before it has read the body.
 */
function isReusable(clientRequest: ClientRequest, response: IncomingMessage): boolean {
  return clientRequest.writableFinished && response.complete
}

function limitConnectTime(clientRequest: ClientRequest, event: 'connect' | 'secureConnect'): void {
  clientRequest.once('socket', (socket) => {
    if (!socket.connecting) return
    const timeoutError = Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' })
    const timer = setTimeout(() => clientRequest.destroy(timeoutError), CONNECT_TIMEOUT_MS)
    const clear = () => clearTimeout(timer)
    socket.once(event, clear).once('close', clear)
  })
}
