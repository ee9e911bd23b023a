import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** During shutdown, a new connection is closed if it sends nothing within this time. */
const FIRST_BYTE_MS = 500

/**
 * Closes the connections of a stopping server as soon as their requests are answered. Returns a
 * function that returns whether the server is stopping.
 */
export function closeConnectionsOnStop(http: FastifyInstance): () => boolean {
  let isStopping = false
  const connections = new Set<Socket>()
  http.server.on('connection', (socket) => {
    connections.add(socket)
    // Node removes its own listener from a socket that requests a tunnel or an upgrade.
    socket.on('error', () => {})
    socket.once('close', () => connections.delete(socket))
  })
  http.addHook('preClose', async () => {
    isStopping = true
    // Node treats a connection without any bytes like one with a running request.
    setTimeout(() => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    }, FIRST_BYTE_MS).unref()
  })
  http.addHook('onSend', (_request, reply, _payload, done) => {
    // A connection that a client keeps for its next request would delay the shutdown.
    if (isStopping) reply.header('connection', 'close')
    done()
  })
  http.addHook('onResponse', (_request, _reply, done) => {
    // A response that began before the shutdown may have let the client keep the connection.
    if (isStopping) http.server.closeIdleConnections()
    done()
  })
  return () => isStopping
}
