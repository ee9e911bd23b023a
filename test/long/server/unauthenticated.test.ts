import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { call } from '../../support/net/http-client.ts'
import { parseMetrics } from '../../support/net/prometheus.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

async function start(t: TestContext, env: Record<string, string> = {}) {
  const { log, lines } = captureLog()
  const server = await startServer({ log, env })
  t.after(() => server.close())
  return { server, lines }
}

/** Begins a request whose body never ends; resolves to the socket and the answer to its end. */
function beginSlow(t: TestContext, { url }: Pick<TestServer, 'url'>, head: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(`${head}\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n{`)
  const beats = setInterval(() => socket.writable && socket.write(' '), 50)
  let text = ''
  const answered = new Promise<string>((resolve) => {
    socket.on('data', (bytes) => {
      text += bytes
      if (text.includes('\r\n\r\n') && text.endsWith('}')) resolve(text)
    })
    socket.on('close', () => resolve(text))
  })
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      clearInterval(beats)
      resolve()
    })
  })
  return { socket: socket as Socket, answered, closed }
}

for (const [name, head, status] of [
  ['without a key', 'POST /v2/pre-recorded HTTP/1.1\r\ncontent-type: application/json', 401],
  ['with a wrong key', 'POST /v2/upload HTTP/1.1\r\nx-service-key: nope', 401],
  ['to no route', 'POST /nowhere HTTP/1.1', 404],
  ['with a wrong method', 'PUT /v2/live HTTP/1.1', 405],
] as const) {
  test(`an endless body ${name} is answered at once, and its connection closed`, async (t) => {
    const { server } = await start(t)
    const { answered, closed } = beginSlow(t, server, head)
    const response = await answered
    assert.match(response, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(response, /\r\nconnection: close\r\n/i)
    assert.equal(JSON.parse(response.slice(response.indexOf('\r\n\r\n'))).statusCode, status)
    await closed
  })
}

test('a request without a key keeps its connection if no body is unread', async (t) => {
  const { server } = await start(t)
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  let text = ''
  const both = new Promise<void>((resolve) => {
    socket.on('data', (bytes) => {
      text += bytes
      if (text.split('HTTP/1.1 401').length === 3) resolve()
      else if (text.endsWith('}')) socket.write('GET /v2/live HTTP/1.1\r\nhost: a\r\n\r\n')
    })
  })
  socket.write('GET /v2/live HTTP/1.1\r\nhost: a\r\n\r\n')
  await both
})

test('an address that tries many wrong keys is delayed, right keys still work', async (t) => {
  const { server } = await start(t, { STENO_AUTH_FAILURE_LIMIT: '1/5' })
  const tried = []
  for (let n = 0; n < 8; n++) tried.push(await call({ ...server, key: `wrong-${n}` }, '/v2/live'))
  assert.deepEqual(
    tried.map(({ status }) => status),
    [401, 401, 401, 401, 401, 429, 429, 429],
  )
  assert.ok(Number(tried.at(-1)!.headers.get('retry-after')) >= 1)
  assert.equal(tried.at(-1)!.headers.get('x-error-code'), 'rate_limited')
  for (const key of [server.key, OTHER_KEY]) {
    assert.equal((await call({ ...server, key }, '/v2/live')).status, 200)
  }
  assert.equal((await fetch(`${server.url}/v2/live`)).status, 401, 'a missing key is no try')
  const metrics = parseMetrics(await (await fetch(`${server.url}/metrics`)).text())
  const counted = metrics.get('steno_auth_failures_total')!.samples
  assert.deepEqual(
    counted.map(({ labels, value }) => [labels.reason, value]),
    [
      ['key_missing', 1],
      ['key_unknown', 8],
      ['key_expired', 0],
    ],
  )
})

test('behind a trusted proxy failed keys are counted per client address', async (t) => {
  const env = { STENO_AUTH_FAILURE_LIMIT: '1/2', STENO_TRUST_PROXY: 'true' }
  const { server, lines } = await start(t, env)
  const statusFrom = async (address: string) => {
    const headers = { 'x-forwarded-for': `203.0.113.1, ${address}` }
    return (await call({ ...server, key: 'wrong' }, '/v2/live', { headers })).status
  }
  for (const expected of [401, 401, 429]) assert.equal(await statusFrom('192.0.2.1'), expected)
  assert.equal(await statusFrom('192.0.2.2'), 401)
  const addresses = lines.filter(({ status }) => status === 429).map(({ address }) => address)
  assert.deepEqual(addresses, ['192.0.2.1'])
})

test('the log includes address, account and key id of a request, never the key', async (t) => {
  const { server, lines } = await start(t)
  await call(server, '/v2/live')
  await call({ ...server, key: 'wrong-key' }, '/v2/live')
  const [right, wrong] = lines.filter(
    ({ msg, route }) => msg === 'answered' && route === '/v2/live',
  )
  assert.deepEqual(
    [right!.address, right!.account, right!.keyId],
    ['127.0.0.1', 'test', 'settings-1'],
  )
  assert.deepEqual([wrong!.address, wrong!.account], ['127.0.0.1', undefined])
  assert.ok(!JSON.stringify(lines).includes('wrong-key'))
})

test('a body that continues after the response is aborted with 408', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { server } = await start(t)
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  let text = ''
  const answered = Promise.withResolvers<void>()
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.on('data', (bytes) => {
    text += bytes
    answered.resolve()
  })
  socket.write('GET /health HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n{')
  await answered.promise
  assert.match(text, /^HTTP\/1.1 200 /)
  t.mock.timers.tick(10_000)
  assert.doesNotMatch(text, /HTTP\/1.1 408/)
  t.mock.timers.tick(2000)
  await closed
  assert.match(text, /HTTP\/1.1 408 .*x-error-code: request_timeout/s)
})
