import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import Fastify from 'fastify'
import { sendList } from './send-list.ts'

/** Serves a list of these chunks; `closed` resolves when the list was cleaned up. */
async function serve(t: TestContext, chunks: readonly string[]) {
  const closed = Promise.withResolvers<void>()
  async function* write() {
    try {
      yield* chunks
    } finally {
      closed.resolve()
    }
  }
  const http = Fastify()
  t.after(() => http.close())
  const requested = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  http.get('/', async (_, reply) => {
    requested.resolve()
    await answered.promise
    return sendList(reply, write())
  })
  await http.listen({ host: '127.0.0.1', port: 0 })
  const { port } = http.server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    http,
    closed: closed.promise,
    requested: requested.promise,
    answer: answered.resolve,
  }
}

test('a list of one chunk is sent with its length, a longer one as a stream', async (t) => {
  for (const [chunks, length] of [
    [['[1]'], '3'],
    [['[1,', '2,', '3]'], null],
  ] as const) {
    const { url, answer } = await serve(t, chunks)
    answer()
    const response = await fetch(url)
    assert.equal(response.headers.get('content-length'), length)
    assert.equal(await response.text(), chunks.join(''))
  }
})

test('HEAD of a list sends no content-length', async (t) => {
  const { url, answer } = await serve(t, ['[]'])
  answer()
  const response = await fetch(url, { method: 'HEAD' })
  assert.equal(response.headers.get('content-length'), null)
})

test('a list is cleaned up when its client disconnects before the first byte', async (t) => {
  const { url, http, requested, answer, closed } = await serve(t, ['[1,', '2,', '3]'])
  const [socket] = await Promise.all([
    once(http.server, 'connection').then(([socket]) => socket),
    requested,
    new Promise<void>((sent) =>
      request(url)
        .on('error', () => {})
        .end(sent),
    ),
  ])
  const left = once(socket, 'close')
  socket.destroy()
  await left
  answer()
  await closed
})
