import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { withoutLeadingSlashes } from '../../../responses/urls.ts'

/** The header of requests that another node has forwarded. A node does not forward them again. */
export const FORWARDED_HEADER = 'x-steno-forwarded'

/** If a node does not respond within this time, the session continues on another node. */
const RESPONSE_TIMEOUT_MS = 3000

/**
 * An upgrade request of a client, with its socket and the bytes that it has sent after the request.
 */
export type Upgrade = { request: IncomingMessage; socket: Duplex; head: Buffer }

/**
 * Passes an upgrade request on to another node, and from then on all bytes in both directions, or
 * the refusal of that node. Resolves to false if the node does not respond or is broken; nothing
 * has been sent to the client then.
 */
export function forwardSocket(
  { request, socket, head }: Upgrade,
  { url, address }: { url: string; address: string },
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const target = targetAt(url, request)
  const headers = forwardedHeaders(request, address)
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest
  const forwardedRequest = send(target, { method: 'GET', headers, agent: false })
  const fail = () => {
    clearTimeout(timeout)
    forwardedRequest.destroy()
    resolve(false)
  }
  const timeout = setTimeout(fail, RESPONSE_TIMEOUT_MS)
  const onClientClose = () => forwardedRequest.destroy()
  socket.once('close', onClientClose)
  forwardedRequest.on('error', fail)
  forwardedRequest.on('response', (response) => {
    if (!isRefusal(response)) return fail()
    clearTimeout(timeout)
    socket.write(rawHead(response))
    response.pipe(socket)
    resolve(true)
  })
  forwardedRequest.on('upgrade', (response, otherSocket, otherHead) => {
    clearTimeout(timeout)
    socket.off('close', onClientClose)
    otherSocket.on('error', () => socket.destroy())
    socket.on('error', () => otherSocket.destroy())
    socket.once('close', () => otherSocket.destroy())
    otherSocket.once('close', () => socket.destroy())
    socket.write(rawHead(response))
    if (otherHead.length > 0) socket.write(otherHead)
    if (head.length > 0) otherSocket.write(head)
    otherSocket.pipe(socket)
    socket.pipe(otherSocket)
    resolve(true)
  })
  forwardedRequest.end()
  return promise
}

/**
 * Returns the address of a request at the node `nodeUrl`. The request may name any host in front of
 * its path, which is ignored.
 */
export function targetAt(nodeUrl: string, { url = '/' }: Pick<IncomingMessage, 'url'>): URL {
  const target = new URL(nodeUrl)
  const { pathname, search } = new URL(withoutLeadingSlashes(url), nodeUrl)
  return Object.assign(target, { pathname, search })
}

/**
 * Returns the headers of a request of the client at `address` that is passed on without its body,
 * after which alone trailers could follow.
 */
export function forwardedHeaders(
  { headers: { trailer: _, ...headers } }: Pick<IncomingMessage, 'headers'>,
  address: string,
): OutgoingHttpHeaders {
  return { ...headers, 'x-forwarded-for': address, [FORWARDED_HEADER]: 'true' }
}

/**
 * Returns whether a node refuses the request of the client. Otherwise an older version, or another
 * service, runs at its address, or the node cannot handle any request.
 */
function isRefusal({ statusCode = 0, headers }: IncomingMessage): boolean {
  const isSteno = 'x-error-code' in headers && 'content-length' in headers
  return isSteno && statusCode >= 400 && statusCode < 500
}

/** Returns the head of a response as it was sent. */
function rawHead({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let i = 0; i < rawHeaders.length; i += 2)
    lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
