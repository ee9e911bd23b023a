import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createRandom } from '../../random/random.ts'

/**
 * How a proxy in front of an S3 server disturbs requests: passes all, answers that the server is
 * overloaded or full, answers late, cuts connections amid a body, or accepts none.
 */
export type S3Fault = 'none' | 'overloaded' | 'full' | 'slow' | 'cut' | 'away'

/** A faulty S3 server. */
export type FaultyS3 = {
  endpoint: string
  /** Disturbs this share of the requests, from 0 to 1, in one way from now on. */
  disturb(fault: S3Fault, share?: number): void
  /** Requests that were disturbed so far. */
  readonly disturbed: number
}

const SLOW_MS = 1500
/** Bytes of a body that pass before the connection is cut. */
const CUT_AFTER = 2000

/** Starts a proxy in front of the S3 server at `target`, which ends with the test. */
export async function startFaultyS3(
  t: Pick<TestContext, 'after'>,
  target: string,
  host = '127.0.0.1',
): Promise<FaultyS3> {
  const random = createRandom(1)
  let current: { fault: S3Fault; share: number } = { fault: 'none', share: 1 }
  let disturbed = 0
  const proxy = createServer(async (incoming, outgoing) => {
    const isHit = current.fault !== 'none' && random() < current.share
    const fault = isHit ? current.fault : 'none'
    // What frees space, and what reads, works on a full disk too.
    const isWrite = incoming.method === 'PUT' || incoming.method === 'POST'
    if (fault === 'full' && !isWrite) return forward(target, incoming, outgoing)
    if (isHit) disturbed++
    if (fault === 'away') return void incoming.socket.destroy()
    if (fault === 'overloaded') return refuse(incoming, outgoing, [503, 'SlowDown'])
    if (fault === 'full') return refuse(incoming, outgoing, [507, 'InsufficientStorage'])
    if (fault === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
    forward(target, incoming, outgoing, { isCut: fault === 'cut' })
  })
  proxy.listen(0, host)
  await once(proxy, 'listening')
  t.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return {
    endpoint: `http://${host}:${(proxy.address() as AddressInfo).port}`,
    disturb(fault, share = 1) {
      current = { fault, share }
    },
    get disturbed() {
      return disturbed
    },
  }
}

function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  [status, code]: [number, string],
): void {
  incoming.resume()
  outgoing.writeHead(status, { 'content-type': 'application/xml' })
  outgoing.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>test</Message></Error>`)
}

function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { isCut = false } = {},
): void {
  const { method, headers, url } = incoming
  // The host is signed, so it stays that of the proxy.
  const { hostname, port } = new URL(target)
  const upstream = request({ hostname, port, method, path: url, headers })
  const stop = () => {
    upstream.destroy()
    incoming.socket.destroy()
  }
  upstream.on('error', stop)
  incoming.on('error', stop)
  incoming.pipe(upstream)
  upstream.on('response', (response) => {
    response.on('error', stop)
    outgoing.writeHead(response.statusCode!, response.headers)
    if (!isCut) return void response.pipe(outgoing)
    let passed = 0
    response.on('data', (bytes: Buffer) => {
      const isLast = passed <= CUT_AFTER && passed + bytes.length > CUT_AFTER
      const rest = bytes.subarray(0, Math.max(0, CUT_AFTER - passed))
      passed += bytes.length
      // The peer must see what precedes the cut.
      outgoing.write(rest, () => isLast && setTimeout(stop, 5))
    })
    response.on('end', () => setTimeout(stop, 5))
  })
}
