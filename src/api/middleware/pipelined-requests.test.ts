import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { serializePipelinedRequests } from './pipelined-requests.ts'

const REQUEST = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

/** Serves on a free port; counts the requests that were parsed and those that were handled. */
async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const counts = { parsed: 0, handled: 0, refused: 0 }
  class ChunkLimitedRequest extends IncomingMessage {
    constructor(socket: Socket) {
      super(socket)
      counts.parsed++
    }
  }
  const turns = serializePipelinedRequests(ChunkLimitedRequest)
  const { IncomingMessage: Request, isFull } = turns
  const options = {
    IncomingMessage: Request,
    shouldUpgradeCallback: ({ socket }: IncomingMessage) => isFull(socket),
  }
  const server = createServer(options, (request, response) => {
    counts.handled++
    handler(request, response)
  })
  turns.handle(server, (socket) => {
    counts.refused++
    socket.end('refused')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return { counts, port: (server.address() as AddressInfo).port }
}

test('pipelined requests are answered in order, one at a time', async () => {
  let running = 0
  const { port } = await serve((_request, response) => {
    running++
    setImmediate(() => {
      response.end(`[${running--}]`)
    })
  })
  const socket = connect(port, '127.0.0.1')
  const requests = Array.from({ length: 60 }, () => REQUEST).join('')
  socket.write(requests.replace(/\r\n\r\n$/, '\r\nconnection: close\r\n\r\n'))
  assert.equal((await text(socket)).match(/\[1\]/g)?.length, 60)
})

test('a connection with too many pipelined requests is refused without parsing more', async () => {
  const { counts, port } = await serve(() => {})
  const socket = connect(port, '127.0.0.1')
  socket.write(REQUEST.repeat(2000))
  assert.equal(await text(socket), 'refused')
  assert.deepEqual(counts, { parsed: 66, handled: 1, refused: 1 })
})
