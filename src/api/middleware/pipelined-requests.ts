import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Maximum requests that wait on a connection. Few clients send a request before the previous
 * response, but one packet can contain two thousand requests.
 */
const MAX_WAITING = 64

type Handler = (request: IncomingMessage, response: ServerResponse) => void
type WaitingRequest = [IncomingMessage, ServerResponse]

/** Handles the requests of each connection one after another. */
export type PipelineQueue = {
  /** The class of requests with which the server must be created. */
  IncomingMessage: typeof IncomingMessage
  /**
   * Returns whether too many requests wait on a connection; then the server must treat its next
   * request as an upgrade.
   */
  isFull(socket: Socket): boolean
  /**
   * Takes over the requests of a server: each is handled in its own turn of the event loop.
   * Responses are sent in this order anyway, and thousands of requests in one packet would
   * otherwise block the loop for seconds. Ends a connection on which too many wait with `refuse`.
   */
  handle(server: Server, refuse: (socket: Socket) => void): void
}

/**
 * Creates the queue of a server whose requests are of the class `Base`. Node parses all requests of
 * a packet at once and stops only at one that upgrades the connection. So the first request on a
 * full connection is declared to be such a request, and the rest of the packet is not parsed.
 */
export function serializePipelinedRequests(Base: typeof IncomingMessage): PipelineQueue {
  /**
   * The requests of a connection that wait for the current one; a connection without a current
   * request has no entry.
   */
  const queues = new WeakMap<Socket, WaitingRequest[]>()
  const isFull = (socket: Socket) => (queues.get(socket)?.length ?? 0) >= MAX_WAITING

  class PipelinedRequest extends Base {
    requestsUpgrade?: boolean | null
    get upgrade(): boolean | null {
      return isFull(this.socket) || Boolean(this.requestsUpgrade)
    }
    set upgrade(value: boolean | null) {
      this.requestsUpgrade = value
    }
  }

  function handle(server: Server, refuse: (socket: Socket) => void): void {
    const [handler] = server.listeners('request') as Handler[]
    if (!handler) throw new TypeError('the server has no handler yet')
    server.removeListener('request', handler)

    function begin(socket: Socket, [request, response]: WaitingRequest): void {
      response.once('close', () => setImmediate(next, socket))
      handler!(request, response)
    }

    function next(socket: Socket): void {
      const waiting = queues.get(socket)!.shift()
      if (!waiting) queues.delete(socket)
      else if (!socket.destroyed) begin(socket, waiting)
    }

    server.on('request', (request, response) => {
      const { socket } = request
      const queue = queues.get(socket)
      if (queue) queue.push([request, response])
      else {
        queues.set(socket, [])
        begin(socket, [request, response])
      }
    })

    server.on('upgrade', (_request, socket: Socket) => {
      if (!isFull(socket)) return
      queues.set(socket, [])
      refuse(socket)
    })
  }

  return { IncomingMessage: PipelinedRequest, isFull, handle }
}
