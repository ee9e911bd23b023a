import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { openReceiver, type Response } from '../../../test/support/delivery/receiver.ts'
import { fakeTimeouts } from '../../../test/support/workers/fake-timeouts.ts'
import { readConfig } from '../../config/config.ts'
import { generateSecret } from '../../storage/deliveries/endpoints/signing-secrets.ts'
import { type AttemptRequest, createSender, type SenderOptions } from './sender.ts'

const secret = generateSecret()

/** Opens a sender that may connect to this machine unless `env` says otherwise. */
function openSender(
  t: TestContext,
  env: Record<string, string> = {},
  options: Pick<SenderOptions, 'resolve' | 'now'> & { timeout?: number } = {},
) {
  const config = readConfig({ STENO_ALLOW_PRIVATE_NETWORK: 'true', ...env })
  config.delivery.timeout = options.timeout ?? 60
  const sender = createSender({ config, ...options })
  t.after(() => sender.close())
  return {
    send: (url: string, given: Partial<AttemptRequest> & { method?: 'POST' | 'PUT' } = {}) => {
      const { method = 'POST', ...attempt } = given
      return sender.send({
        delivery: { id: randomUUID(), account: 'acme', method, url },
        body: bodyOf('{"event":"x"}'),
        secrets: [secret],
        signal: new AbortController().signal,
        ...attempt,
      })
    },
  }
}

function bodyOf(...texts: string[]) {
  async function* chunks() {
    for (const text of texts) yield Buffer.from(text)
  }
  return { bytes: Buffer.byteLength(texts.join('')), chunks }
}

async function openTestReceiver(t: TestContext, response?: Response) {
  const receiver = await openReceiver(response)
  t.after(() => receiver.close())
  return receiver
}

/** Opens a raw receiver; `answer` is called once some bytes have arrived. */
async function openRaw(t: TestContext, response: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {}).once('data', () => response(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

async function closed(socket: Socket): Promise<void> {
  // Not `once`, which would reject: the other side cuts the connection.
  if (!socket.destroyed) await new Promise((resolve) => socket.on('close', resolve))
}

test('an attempt sends a signed JSON request and records its response', async (t) => {
  const receiver = await openTestReceiver(t, (_, response) => {
    response.setHeader('x-own', ['a', 'b']).setHeader('set-cookie', 'session=1')
    return 202
  })
  const env = {
    STENO_CALLBACK_USER_AGENT: 'our-server/2',
    STENO_WEBHOOK_HEADER_PREFIXES: 'svix',
  }
  const { send } = openSender(t, env)
  const before = Date.now()
  const attempt = await send(`${receiver.url}/hook?key=1`)
  const { method, path, headers, body } = receiver.received[0]!
  assert.deepEqual([method, path, body], ['POST', '/hook?key=1', '{"event":"x"}'])
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['content-length'], '13')
  assert.equal(headers['user-agent'], 'our-server/2')
  assert.equal(headers['transfer-encoding'], undefined)
  assert.equal(headers['svix-id'], headers['webhook-id'])
  new Webhook(secret).verify(body, headers as never)
  assert.deepEqual([attempt.status, attempt.error, attempt.responseBody], [202, null, 'heard'])
  assert.equal(attempt.responseHeaders?.['x-own'], 'a, b')
  assert.equal(attempt.responseHeaders?.['set-cookie'], '[hidden]')
  assert.equal(attempt.requestHeaders['webhook-id'], headers['webhook-id'])
  assert.equal(attempt.requestHeaders['webhook-signature'], '[hidden]')
  assert.equal(attempt.requestHeaders['svix-signature'], '[hidden]')
  assert.ok(attempt.at >= before && attempt.at + attempt.ms <= Date.now())
})

test("an attempt's duration is rounded down to whole milliseconds", async (t) => {
  let moment = 1000
  t.mock.method(performance, 'now', () => moment)
  const receiver = await openTestReceiver(t, () => {
    moment += 7.9
    return 200
  })
  assert.equal((await openSender(t).send(receiver.url)).ms, 7)
})

test('PUT is used when requested', async (t) => {
  const receiver = await openTestReceiver(t)
  await openSender(t).send(receiver.url, { method: 'PUT' })
  assert.equal(receiver.received[0]!.method, 'PUT')
})

test('credentials in the URL are sent as basic authentication and hidden in the log', async (t) => {
  const receiver = await openTestReceiver(t)
  const url = receiver.url.replace('http://', 'http://me:pass@')
  const { requestHeaders } = await openSender(t).send(url)
  const expected = `Basic ${Buffer.from('me:pass').toString('base64')}`
  assert.equal(receiver.received[0]!.headers.authorization, expected)
  assert.equal(requestHeaders.authorization, '[hidden]')
})

test('secrets echoed by a receiver are hidden in the log', async (t) => {
  const receiver = await openTestReceiver(t, ({ headers }, response) => {
    response.setHeader('x-echo', headers.authorization!)
    response.setHeader('x-more', 'x'.repeat(30_000))
    response.writeHead(500).end(JSON.stringify({ ...headers, user: 'someone', pass: 'sesame' }))
    return undefined
  })
  const url = receiver.url.replace('http://', 'http://someone:sesame@')
  const { responseHeaders, responseBody } = await openSender(t).send(url)
  const { authorization, 'webhook-signature': signature } = receiver.received[0]!.headers
  const log = JSON.stringify([responseHeaders, responseBody])
  assert.match(log, /webhook-id/)
  const secrets = [authorization!.slice(6, 20), String(signature).slice(3, 40), 'someone', 'sesame']
  for (const secret of secrets) assert.ok(!log.includes(secret), secret)
  assert.equal(responseHeaders!['(left out)'], '1 header')
})

test('hiding short secrets does not lengthen the logged response', async (t) => {
  const receiver = await openTestReceiver(t, (_, response) => {
    response.end('user'.repeat(256))
    return undefined
  })
  const { responseBody } = await openSender(t).send(receiver.url.replace('//', '//user:pass@'))
  assert.equal(responseBody, '[hidden]'.repeat(128))
})

test('a redirect is not followed', async (t) => {
  const target = await openTestReceiver(t)
  const receiver = await openTestReceiver(t, (_, response) => {
    response.setHeader('location', target.url)
    return 307
  })
  const attempt = await openSender(t).send(receiver.url)
  assert.equal(attempt.status, 307)
  assert.equal(target.received.length, 0)
})

test('a success is decided by the response headers, even with an endless body', async (t) => {
  const { url, sockets } = await openRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n')
    const write = () => void socket.write('x'.repeat(16_384), (error) => error ?? write())
    write()
  })
  const attempt = await openSender(t).send(url)
  assert.deepEqual([attempt.status, attempt.responseBody], [200, 'x'.repeat(1024)])
  await closed(sockets[0]!)
})

test('a receiver that does not respond in time is a failure', async (t) => {
  const { pass } = fakeTimeouts(t, 654_000)
  const { url, sockets } = await openRaw(t, () => pass())
  const attempt = await openSender(t, {}, { timeout: 654 }).send(url, { body: bodyOf('') })
  assert.equal(attempt.status, null)
  assert.equal(attempt.error, 'it did not respond within 654 s')
  await closed(sockets[0]!)
})

const oddResponses: [title: string, answer: string, error: string][] = [
  ['breaks off', '', 'the connection broke off'],
  [
    'switches protocols',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    'the connection broke off',
  ],
  ['is no HTTP', 'SSH-2.0-OpenSSH_9.7\r\n', 'its answer is not HTTP'],
  [
    'has headers without an end',
    `HTTP/1.1 200 OK\r\n${'x: yyyyyyyy\r\n'.repeat(10_000)}`,
    'the headers of its answer are too large',
  ],
]
for (const [title, answer, error] of oddResponses) {
  test(`a response that ${title} is reported in words`, async (t) => {
    const { url } = await openRaw(t, (socket) => void socket.end(answer))
    const attempt = await openSender(t).send(url)
    assert.deepEqual([attempt.status, attempt.error], [null, error])
  })
}

test('unreachable hosts and invalid URLs are reported in words', async (t) => {
  const { send } = openSender(t)
  const cases = [
    ['http://127.0.0.1:1/', 'nothing listens at the address'],
    ['http://nowhere.invalid/', 'its host name does not resolve'],
    ['http://[', 'the address cannot be read'],
    ['ftp://127.0.0.1/', 'the scheme ftp: is not http or https'],
  ]
  for (const [url, error] of cases) assert.equal((await send(url!)).error, error)
})

test('a private address is never contacted in any form unless it is allowed', async (t) => {
  const canary = await openTestReceiver(t)
  const { port } = new URL(canary.url)
  const resolve = ((_host: string, _options: object, done: (...of: unknown[]) => void) => {
    const found: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }]
    done(null, found)
  }) as unknown as NonNullable<SenderOptions['resolve']>
  const guarded = openSender(t, { STENO_ALLOW_PRIVATE_NETWORK: 'false' }, { resolve })
  const hosts = ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', 'hooks.example']
  for (const host of hosts) {
    const { error } = await guarded.send(`http://${host}:${port}/`)
    assert.equal(error, 'it is not a public address', host)
  }
  assert.equal(canary.received.length, 0)
  const allowed = openSender(t, { STENO_ALLOW_PRIVATE_NETWORK: 'hooks.example' }, { resolve })
  assert.equal((await allowed.send(`http://hooks.example:${port}/`)).status, 200)
})

test('a long body arrives complete and signed', async (t) => {
  const receiver = await openTestReceiver(t)
  const body = bodyOf(...Array.from({ length: 14 }, () => 'Grüße 🎙 '.repeat(62_500)))
  const attempt = await openSender(t).send(receiver.url, { body })
  assert.equal(attempt.status, 200)
  const [received] = receiver.received
  assert.equal(Buffer.byteLength(received!.body), body.bytes)
  new Webhook(secret).verify(received!.body, received!.headers as never, { jsonParse: false })
})

test('a long body gets more time for its transmission', async (t) => {
  // Their bytes take a second more.
  const [short, long] = [fakeTimeouts(t, 654_000), fakeTimeouts(t, 655_000)]
  let late = short
  const receiver = await openTestReceiver(t, (_, response) => {
    late.pass()
    response.end()
    return undefined
  })
  const { send } = openSender(t, {}, { timeout: 654 })
  const body = bodyOf('x'.repeat(125_000))
  assert.equal((await send(receiver.url, { body })).status, 200)
  late = long
  assert.equal((await send(receiver.url, { body })).status, null)
})

test('a response sent before a long body was read counts', async (t) => {
  const { url } = await openRaw(t, (socket) => {
    socket.end('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  const body = bodyOf(...Array.from({ length: 100 }, () => 'x'.repeat(100_000)))
  const attempt = await openSender(t).send(url, { body })
  assert.deepEqual([attempt.status, attempt.error], [413, null])
})

test('aborting a long body closes its source', async (t) => {
  const closed = Promise.withResolvers<void>()
  async function* chunks() {
    try {
      for (let i = 0; i < 1000; i++) yield Buffer.alloc(100_000)
    } finally {
      if (++reads === 2) closed.resolve()
    }
  }
  let reads = 0
  const abort = new AbortController()
  const { url } = await openRaw(t, (socket) => {
    socket.pause()
    abort.abort(new Error('the server stops'))
  })
  const body = { bytes: 100_000_000, chunks }
  const sent = openSender(t).send(url, { body, signal: abort.signal })
  await assert.rejects(sent, /the server stops/)
  await closed.promise
})

test('only the first 200 response headers are recorded', async (t) => {
  const many = Array.from({ length: 3000 }, (_, i) => `h${i}: \r\n`).join('')
  const { url } = await openRaw(t, (socket) => {
    socket.end(`HTTP/1.1 200 OK\r\n${many}connection: close\r\n\r\n`)
  })
  const { responseHeaders } = await openSender(t).send(url)
  assert.equal(Object.keys(responseHeaders!).length, 200)
})

test('the connection is closed if the response precedes the end of the body', async (t) => {
  const { url, sockets } = await openRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  async function* chunks() {
    yield Buffer.from('a start')
    await new Promise(() => {})
  }
  const attempt = await openSender(t).send(url, { body: { bytes: 100, chunks }, secrets: [] })
  assert.deepEqual([attempt.status, attempt.responseBody], [200, 'ok'])
  await closed(sockets[0]!)
})

test('a receiver that accepts no connection fails after ten seconds', async (t) => {
  const retryAfter = Promise.withResolvers<void>()
  const resolve = (() => retryAfter.resolve()) as unknown as NonNullable<SenderOptions['resolve']>
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent = openSender(t, {}, { resolve, timeout: 600 }).send('http://hooks.example/')
  await retryAfter.promise
  await turn()
  t.mock.timers.tick(10_000)
  assert.equal((await sent).error, 'it accepted no connection in time')
})

test('connections are reused', async (t) => {
  const ports = new Set<number | undefined>()
  const receiver = await openTestReceiver(t, (_, response) => {
    ports.add(response.socket?.remotePort)
    return 200
  })
  const { send } = openSender(t)
  for (let i = 0; i < 12; i++) await send(receiver.url)
  // A connection is free again shortly after its response was read.
  assert.ok(ports.size <= 2, `${ports.size} connections for 12 attempts`)
})

test('an aborted attempt rejects with the reason', async (t) => {
  const abort = new AbortController()
  const { url } = await openRaw(t, () => abort.abort(new Error('the job was deleted')))
  await assert.rejects(openSender(t).send(url, { signal: abort.signal }), /the job was deleted/)
})

test('an unreadable body rejects with its own error', async (t) => {
  const receiver = await openTestReceiver(t)
  const broken = new Error('the disk is damaged')
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a start')
    throw broken
  }
  const sent = openSender(t).send(receiver.url, { body: { bytes: 100, chunks } })
  await assert.rejects(sent, broken)
  assert.equal(receiver.received.length, 0)
})

test('a body with a wrong length fails and does not affect the next request', async (t) => {
  const receiver = await openTestReceiver(t)
  const { send } = openSender(t)
  for (const bytes of [5, 50]) {
    const { status } = await send(receiver.url, { body: { ...bodyOf('{"event":"x"}'), bytes } })
    assert.equal(status, null)
  }
  assert.equal(receiver.received.length, 0)
  assert.equal((await send(receiver.url)).status, 200)
})
