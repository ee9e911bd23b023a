import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Maximum of waiting requests per connection. Hardly any client sends a request before the previous
 * response; one packet can hold two thousand requests.
 */
const MAX_WAITING = 64

type Handler = (request: IncomingMessage, response: ServerResponse) => void
type Waiting = [IncomingMessage, ServerResponse]

/**
 * Handles the requests of each connection one after the other, each in its own turn of the event
 * loop: responses are sent in this order anyway, and thousands of requests in one packet would
 * otherwise block the loop for seconds. Ends a connection on which too many wait with `refuse`.
 */
export function handleInTurn(server: Server, refuse: (socket: Socket) => void): void {
  const [handle] = server.listeners('request') as Handler[]
  if (!handle) throw new TypeError('the server has no handler yet')
  server.removeListener('request', handle)
  /** The requests behind the current one; no entry where none is handled. */
  const queues = new WeakMap<Socket, Waiting[]>()

  function begin(socket: Socket, [request, response]: Waiting): void {
    response.once('close', () => setImmediate(next, socket))
    handle!(request, response)
  }

  function next(socket: Socket): void {
    const waiting = queues.get(socket)!.shift()
    if (!waiting) queues.delete(socket)
    else if (!socket.destroyed) begin(socket, waiting)
  }

  server.on('request', (request, response) => {
    const { socket } = request
    const queue = queues.get(socket)
    if (!queue) {
      queues.set(socket, [])
      begin(socket, [request, response])
    } else if (queue.length < MAX_WAITING) queue.push([request, response])
    else if (!socket.destroyed) refuse(socket)
  })
}
