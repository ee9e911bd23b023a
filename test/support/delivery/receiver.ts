import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request to a receiver. */
export type Received = {
  method: string
  /** With its query. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver of callbacks and webhooks on loopback. */
export type Receiver = {
  /** Without a slash at its end. */
  url: string
  /** In the order in which they arrived. */
  received: Received[]
  /** Returns those to one path. */
  at(path: string): Received[]
  /** Resolves when this many have arrived at a path. */
  until(path: string, count: number): Promise<void>
  close(): Promise<void>
}

/** Answers a request. If it ends the response itself, it needs to return no status. */
export type Response = (received: Received, response: ServerResponse) => number | undefined

/** Opens a receiver, which answers 200 unless `answer` returns another status. */
export async function openReceiver(answer: Response = () => 200): Promise<Receiver> {
  const received: Received[] = []
  const at = (path: string) => received.filter((one) => one.path === path)
  let changed = Promise.withResolvers<void>()
  // Connections are kept, however slow the machine is.
  const server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const body = await text(request).catch(() => undefined)
    if (body === undefined) return // The sender has been killed.
    const one = { method, path, headers, body }
    received.push(one)
    changed.resolve()
    changed = Promise.withResolvers()
    const status = answer(one, response)
    if (status !== undefined)
      response.writeHead(status, { 'content-type': 'text/plain' }).end('heard')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at,
    async until(path, count) {
      while (at(path).length < count) await changed.promise
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
