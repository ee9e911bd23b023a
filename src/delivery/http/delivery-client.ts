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
/** A receiver that has accepted no connection by then is down. */
const CONNECT_TIMEOUT_MS = 10_000
/** The head of the response decides; the rest is only for the log. */
const EXCERPT_TIMEOUT_MS = 250
/** Four times what most proxies forward: real responses have fewer headers. */
const MAX_HEADER_BYTES = 32 * 1024
/** Further headers are dropped: thousands of empty ones fit into the byte limit. */
const MAX_HEADERS = 200

/** A request to an address that was checked. A user name and password in the URL are left out. */
export type DeliveryRequest = {
  url: URL
  /** The account that the request belongs to. */
  account: string
  method: string
  headers: Record<string, string>
  body: AsyncIterable<Uint8Array>
  /** The length of the body. */
  bytes: number
  signal: AbortSignal
}

/** A response whose head has arrived. */
export type DeliveryResponse = {
  status: number
  headers: Record<string, string>
  /**
   * Returns the beginning of the body, as `readResponseExcerpt` describes. Must be called: it
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
  /** Cuts all connections. */
  close(): void
}

/**
 * Creates the HTTP client of deliveries. Every connection is checked when it is made, no redirect
 * is followed, and a response costs little, whatever it contains. It uses Node's own client because
 * the parser itself limits heads and chunk extensions, without an object for each.
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
      const sent = start(new URL(`${url.origin}${url.pathname}${url.search}`), {
        ...{ method, headers, lookup, signal, maxHeaderSize: MAX_HEADER_BYTES },
        agent: isSecure ? agents.https : agents.http,
        insecureHTTPParser: false,
      })
      sent.maxHeadersCount = MAX_HEADERS
      limitConnecting(sent, isSecure ? 'secureConnect' : 'connect')
      const response = responseOf(sent)
      // Failures of the pipeline are reported as an error of the request.
      pipeline(Readable.from(exactly(body, bytes), { objectMode: false }), sent, () => {})
      return response
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** A body that is not as long as declared must not run into the next request. */
async function* exactly(
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

function responseOf(sent: ClientRequest): Promise<DeliveryResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<DeliveryResponse>()
  const release = limitResponse(sent)
  // Node reports no error of a response that switches to another protocol: it closes the request.
  sent.once('close', () => {
    reject(Object.assign(new Error('closed without a response'), { code: 'ECONNRESET' }))
  })
  // The listener stays after the response: a connection may break off at any time.
  sent.on('error', reject).on('response', (response) => {
    const headers = Object.entries(response.headersDistinct).map(([name, values = []]) => {
      return [name, values.join(', ')] as const
    })
    resolve({
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(headers),
      async excerpt() {
        const text = await readResponseExcerpt(response, { timeout: EXCERPT_TIMEOUT_MS })
        release()
        if (!isOver(sent, response)) sent.destroy()
        return text
      },
    })
  })
  return promise
}

/**
 * Returns whether the connection is free for the next request: a receiver may answer before it has
 * read the body.
 */
function isOver(sent: ClientRequest, response: IncomingMessage): boolean {
  return sent.writableFinished && response.complete
}

function limitConnecting(sent: ClientRequest, event: 'connect' | 'secureConnect'): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return
    const late = Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' })
    const timer = setTimeout(() => sent.destroy(late), CONNECT_TIMEOUT_MS)
    const clear = () => clearTimeout(timer)
    socket.once(event, clear).once('close', clear)
  })
}
