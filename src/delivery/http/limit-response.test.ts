import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import test, { type TestContext } from 'node:test'
import { createAddressGuard } from '../../net/address-guard.ts'
import { describeConnectionError } from '../../net/connection-error.ts'
import { createResolver } from '../../net/dns/resolver.ts'
import { createDeliveryClient } from './delivery-client.ts'

/** What the system buffers of a flood without stopping the other side from sending. */
const BUFFERED_BYTES = 16 * 1024 * 1024

/** Opens a receiver that responds with `head`, then with `again` forever. */
async function openFlood(t: TestContext, head: string, again: string) {
  const flood = { bytes: 0, url: '', closed: Promise.withResolvers<void>() }
  const chunk = again.repeat(Math.ceil(32_768 / again.length))
  const server = createServer((socket) => {
    const pour = () => {
      flood.bytes += chunk.length
      socket.write(chunk, (error) => error ?? setImmediate(pour))
    }
    socket.on('error', () => {}).on('close', () => flood.closed.resolve())
    socket.once('data', () => {
      socket.write(head)
      pour()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  flood.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return flood
}

/** Returns the status and the beginning of a response, or why there is none. */
async function ask(
  t: TestContext,
  url: string,
): Promise<[status: number | undefined, received: string]> {
  const requests = createDeliveryClient(createAddressGuard('all'), createResolver())
  t.after(() => requests.close())
  const body = (async function* () {})()
  const request = { url: new URL(url), account: 'acme', method: 'POST', headers: {} }
  try {
    const response = await requests.send({ ...request, body, bytes: 0, signal: t.signal })
    return [response.status, await response.excerpt()]
  } catch (error) {
    return [undefined, describeConnectionError(error).detail]
  }
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const tooLarge = 'the headers of its answer are too large'
const again = 'it sent too many informational responses'

const floods: [
  title: string,
  head: string,
  again: string,
  status: number | undefined,
  received: string,
][] = [
  ['answers that announce one', '', 'HTTP/1.1 103 E\r\n\r\n', undefined, again],
  ['answers that ask to continue', '', 'HTTP/1.1 100 C\r\n\r\n', undefined, again],
  ['short headers', OK, 'a:\r\n', undefined, tooLarge],
  ['blanks before a value', `${OK}a:`, ' ', undefined, tooLarge],
  ['extensions of a chunk', `${CHUNKED}1;`, 'a;', 200, ''],
  ['chunks of a byte', CHUNKED, '1\r\nx\r\n', 200, 'x'.repeat(1024)],
]
for (const [title, head, again, status, received] of floods) {
  test(`a response of endless ${title} is cut off early`, async (t) => {
    const flood = await openFlood(t, head, again)
    assert.deepEqual(await ask(t, flood.url), [status, received])
    await flood.closed.promise
    assert.ok(flood.bytes < BUFFERED_BYTES, `${flood.bytes} bytes were sent`)
  })
}

test('up to ten informational responses may precede the final one', async (t) => {
  const server = createServer((socket) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10)
    socket.once('data', () => socket.end(`${hints}${OK}content-length: 2\r\n\r\nok`))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  assert.deepEqual(await ask(t, `http://127.0.0.1:${port}`), [200, 'ok'])
})
