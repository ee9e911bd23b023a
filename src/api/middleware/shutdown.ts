import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * During shutdown, a new connection must send something within this time: a request may be on its
 * way.
 */
const FIRST_BYTE_MS = 500

/**
 * Closes the connections of a server that stops as soon as their requests are answered. Returns
 * whether the server stops.
 */
export function closeConnectionsOnStop(http: FastifyInstance): () => boolean {
  let isStopping = false
  const connections = new Set<Socket>()
  http.server.on('connection', (socket) => {
    connections.add(socket)
    // Node takes its own listener off a socket that asks for a tunnel or an upgrade.
    socket.on('error', () => {})
    socket.once('close', () => connections.delete(socket))
  })
  http.addHook('preClose', async () => {
    isStopping = true
    // Node takes a connection without any bytes for one with a running request.
    setTimeout(() => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    }, FIRST_BYTE_MS).unref()
  })
  http.addHook('onSend', (_request, reply, _payload, done) => {
    // A client that keeps its connection for a next request would delay the shutdown.
    if (isStopping) reply.header('connection', 'close')
    done()
  })
  http.addHook('onResponse', (_request, _reply, done) => {
    // A response whose head was sent before the shutdown promised to keep the connection.
    if (isStopping) http.server.closeIdleConnections()
    done()
  })
  return () => isStopping
}
