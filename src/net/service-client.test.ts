import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type FakeTimeouts, fakeTimeouts } from '../../test/support/workers/fake-timeouts.ts'
import { createServiceClient, type StreamReader } from './service-client.ts'

type Responder = (response: ServerResponse, request: IncomingMessage) => void

const next: Responder[] = []
const seen: { url: string | undefined; authorization: string | undefined; at: number }[] = []
let closed = 0
// Connections are kept, however slow the machine is.
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  const { url, headers } = request
  seen.push({ url, authorization: headers.authorization, at: performance.now() })
  request.resume()
  response.on('close', () => closed++)
  const manner = next.shift()
  if (manner) manner(response, request)
  else response.end('fine')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
const problems: string[] = []
const client = createServiceClient({
  url,
  apiKey: 'secret-key',
  pauseMs: 1,
  onRetry: (problem) => void problems.push(problem),
})
after(async () => {
  await client.close()
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  for (const list of [next, seen, problems]) list.length = 0
  closed = 0
})

const defaults = { tries: 3, timeout: 60, isIdempotent: true }

function post(
  options: Partial<typeof defaults & { signal: AbortSignal; stream: StreamReader }> = {},
) {
  const { signal = AbortSignal.timeout(120_000) } = options
  const body = Buffer.from('body')
  return client.post({
    path: '/x',
    contentType: 'text/plain',
    body,
    ...defaults,
    ...options,
    signal,
  })
}

const refuse = (status: number, headers: Record<string, string> = {}): Responder => {
  return (response) => void response.writeHead(status, headers).end('no')
}

test('a request is sent with the API key', async () => {
  assert.deepEqual(await post(), { status: 200, text: 'fine' })
  assert.deepEqual([seen[0]!.url, seen[0]!.authorization], ['/v1/x', 'Bearer secret-key'])
})

test('429, 5xx and broken connections are retried', async () => {
  next.push(refuse(500), refuse(429), (response) => void response.destroy())
  assert.deepEqual(await post({ tries: 4 }), { status: 200, text: 'fine' })
  assert.deepEqual(problems, [
    'it responds with 500',
    'it responds with 429',
    'the connection broke off',
  ])
})

test('a non-idempotent request is not repeated if it may have been processed', async (t) => {
  const breakOff: Responder = (response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('some', () => response.destroy())
  }
  next.push(breakOff)
  assert.deepEqual(await post({ isIdempotent: false }), { problem: 'the connection broke off' })
  const { pass } = fakeTimeouts(t, 654_000)
  next.push(() => pass())
  const late = { problem: 'it did not respond within 654 s' }
  assert.deepEqual(await post({ isIdempotent: false, timeout: 654 }), late)
  assert.equal(seen.length, 2)
  next.push((response) => void response.destroy(), refuse(500), breakOff)
  assert.deepEqual(await post({ tries: 4 }), { status: 200, text: 'fine' })
  next.push((response) => void response.destroy())
  assert.deepEqual(await post({ isIdempotent: false }), { status: 200, text: 'fine' })
})

test('Retry-After is respected', async () => {
  next.push(refuse(429, { 'retry-after': '1' }))
  await post()
  assert.ok(seen[1]!.at - seen[0]!.at > 900)
})

test('a request is given up where Retry-After is later than all its attempts', async () => {
  next.push(refuse(429, { 'retry-after': '241' }))
  assert.deepEqual(await post(), { problem: 'it responds with 429' })
  assert.equal(seen.length, 1)
})

test('after the last attempt the problem is returned', async () => {
  next.push(refuse(503), refuse(503), refuse(503))
  assert.deepEqual(await post(), { problem: 'it responds with 503' })
  assert.equal(seen.length, 3)
})

test('other statuses are not retried', async () => {
  next.push(refuse(401))
  assert.deepEqual(await post(), { status: 401, text: 'no' })
  assert.equal(seen.length, 1)
})

test('a redirect is not followed', async () => {
  next.push(refuse(307, { location: `${url}/secret` }))
  assert.deepEqual(await post(), { problem: 'it redirects (307), which is not followed' })
  assert.deepEqual(
    seen.map((one) => one.url),
    ['/v1/x'],
  )
})

test('a stalled response times out', async (t) => {
  const { pass } = fakeTimeouts(t, 654_000)
  next.push(
    () => pass(),
    (response) => void response.write('a', () => pass()),
  )
  assert.deepEqual(await post({ tries: 2, timeout: 654 }), {
    problem: 'it did not respond within 654 s',
  })
  assert.equal(seen.length, 2)
})

test('a response is decoded with its charset', async () => {
  const given: [type: string, body: Buffer, expected: object][] = [
    ['text/plain; charset=ISO-8859-1', Buffer.from('caf\u00e9', 'latin1'), { text: 'café' }],
    ['text/plain; charset="utf-16le"', Buffer.from('café', 'utf16le'), { text: 'café' }],
    ['text/plain; charset=klingon', Buffer.from('café'), { text: 'café' }],
    ['application/json', Buffer.from('\ufeffcafé'), { text: 'café' }],
    [
      'application/json',
      Buffer.from('caf\u00e9', 'latin1'),
      { problem: 'its response is not text in utf-8' },
    ],
  ]
  for (const [type, body, expected] of given) {
    next.push((response) => response.writeHead(200, { 'content-type': type }).end(body))
    const { status: _, ...answer } = { status: 0, ...(await post()) }
    assert.deepEqual(answer, expected)
  }
})

test('an endless response is aborted', async () => {
  const flood: Responder = (response) => {
    const block = Buffer.alloc(65_536, 'a')
    const write = () => {
      while (!response.destroyed && response.write(block)) {}
    }
    response.on('drain', write)
    write()
  }
  next.push(flood)
  assert.deepEqual(await post(), { problem: 'its response is larger than 1048576 bytes' })
})

test('a streamed response is read as it arrives, and its connection reused', async (t) => {
  // The rest comes at once: nothing waits until time is up.
  t.mock.method(AbortSignal, 'timeout', () => new AbortController().signal)
  const ports = new Set<number | undefined>()
  const respond: Responder = async (response, { socket }) => {
    ports.add(socket.remotePort)
    for (const chunk of ['caf\u00e9', ' | ', 'done']) {
      await new Promise((resolve) => response.write(chunk, resolve))
      await setImmediate()
    }
    response.end()
  }
  let text = ''
  const read: StreamReader['read'] = (chunk) => {
    text += chunk
    return text.includes('done') ? 'done' : 'waiting'
  }
  const options = { isIdempotent: false, stream: { read, maxSeconds: 10 } }
  for (let n = 0; n < 6; n++) {
    text = ''
    next.push(respond)
    assert.deepEqual(await post(options), { status: 200, text: '' })
    assert.match(text, /^café \| done/)
  }
  // The client has two connections in turn.
  assert.ok(ports.size <= 2, `${ports.size}`)
  next.push(refuse(404))
  assert.deepEqual(await post(options), { status: 404, text: 'no' })
})

test('a streamed response fails on reader errors, bad charsets and timeouts', async (t) => {
  const [idle, whole] = [fakeTimeouts(t, 654_000), fakeTimeouts(t, 987_000)]
  const write = (bytes: Buffer): Responder => {
    return (response) => void response.write(bytes)
  }
  const letter = write(Buffer.from('a'))
  const given: [Responder, StreamReader['read'], problem: string][] = [
    [letter, () => ({ problem: 'it is nonsense' }), 'it is nonsense'],
    [write(Buffer.from([0x61, 0xff])), () => 'waiting', 'its response is not text in utf-8'],
    [letter, () => passing(idle, 'waiting'), 'it did not respond within 654 s'],
    [letter, () => passing(whole, 'progress'), 'it took longer than 987 s'],
  ]
  function passing({ pass }: FakeTimeouts, reading: 'waiting' | 'progress') {
    setImmediate().then(pass)
    return reading
  }
  for (const [manner, read, problem] of given) {
    next.push(manner)
    const options = { timeout: 654, isIdempotent: false, stream: { read, maxSeconds: 987 } }
    assert.deepEqual(await post(options), { problem })
  }
  assert.equal(seen.length, given.length)
  while (closed < given.length) await new Promise((resolve) => setTimeout(resolve, 10))
})

test('cancellation aborts the request and the pause before a retry', async () => {
  const stop = new AbortController()
  next.push(() => setTimeout(() => stop.abort(new Error('stopped')), 50))
  await assert.rejects(post({ signal: stop.signal }), /stopped/)
  while (closed === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  const again = new AbortController()
  next.push((response, request) => {
    refuse(429, { 'retry-after': '20' })(response, request)
    setTimeout(() => again.abort(new Error('stopped')), 50)
  })
  await assert.rejects(post({ signal: again.signal }), /stopped/)
})

test('an address without a server is reported in words', async () => {
  const gone = createServiceClient({ url: 'http://127.0.0.1:9', apiKey: 'k', pauseMs: 1 })
  const request = { path: '/x', contentType: 'text/plain', body: Buffer.from(''), timeout: 5 }
  const { signal } = new AbortController()
  const response = await gone.post({ ...request, signal, tries: 2 })
  assert.deepEqual(response, { problem: 'nothing listens at the address' })
  await gone.close()
})
