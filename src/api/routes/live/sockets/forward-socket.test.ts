import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { forwardSocket, targetAt } from './forward-socket.ts'

test('a request is forwarded to its path at the node, whatever precedes the path', () => {
  for (const url of ['/v2/live?token=a', '//v2/live?token=a', 'http://other/v2/live?token=a']) {
    assert.equal(targetAt('http://node:70/', { url }).href, 'http://node:70/v2/live?token=a')
  }
})

test('the refusal of a node reaches the client; a node that is broken counts as away', async (t) => {
  const refused = await forwardTo(t, (_, response) => {
    const headers = { 'x-error-code': 'too_many_sessions', 'content-length': 2 }
    response.writeHead(429, headers).end('{}')
  })
  assert.deepEqual(refused, { isForwarded: true, status: 429, body: '{}' })
  const broken = await forwardTo(t, (_, response) => {
    response.writeHead(503, { 'x-error-code': 'internal', 'content-length': 2 }).end('{}')
  })
  assert.deepEqual(broken, { isForwarded: false, status: 502, body: '' })
  const foreign = await forwardTo(t, (_, response) => {
    response.writeHead(404, { 'content-length': 2 }).end('no')
  })
  assert.deepEqual(foreign, { isForwarded: false, status: 502, body: '' })
  const withoutLength = await forwardTo(t, (_, response) => {
    response.writeHead(429, { 'x-error-code': 'too_many_sessions' }).end('{}')
  })
  assert.deepEqual(withoutLength, { isForwarded: false, status: 502, body: '' })
})

/** Sends an upgrade request through a server that forwards it to a node, or answers 502. */
async function forwardTo(t: TestContext, node: RequestListener) {
  const nodeUrl = await listen(t, createServer(node))
  const server = createServer()
  const isForwarded = new Promise<boolean>((resolve) => {
    server.on('upgrade', async (upgraded, socket, head) => {
      const target = { url: nodeUrl, address: '127.0.0.1' }
      const hasForwarded = await forwardSocket({ request: upgraded, socket, head }, target)
      if (!hasForwarded) socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
      resolve(hasForwarded)
    })
  })
  const url = await listen(t, server)
  const headers = { connection: 'upgrade', upgrade: 'websocket' }
  const [response] = await once(request(`${url}/v2/live`, { headers }).end(), 'response')
  const body = Buffer.concat(await response.toArray()).toString()
  return { isForwarded: await isForwarded, status: response.statusCode, body }
}

async function listen(t: TestContext, server: ReturnType<typeof createServer>): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
