import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { createResolver } from '../../net/dns/resolver.ts'
import { receiveScheduler } from '../../storage/objects/receive-scheduler.ts'
import { type FetchOptions, fetchUrl } from './fetch-url.ts'

const usual: FetchOptions = {
  signal: new AbortController().signal,
  timeout: 30,
  maxBytes: 1000,
  allowPrivateNetwork: 'all',
  resolve: createResolver(),
  account: 'acme',
}

/** Serves on a free port of this machine, and keeps connections for long; returns the origin. */
async function serve(t: TestContext, vad: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 600_000 }, vad).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers every request with what `answer` writes. */
async function serveRaw(t: TestContext, response: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => response(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function fetchText(url: string, options: Partial<FetchOptions> = {}): Promise<string> {
  const bytes = await fetchUrl(url, (body) => buffer(body), { ...usual, ...options })
  return bytes.toString()
}

/** Creates a name service that resolves every name to these addresses. */
function resolveTo(...addresses: string[]) {
  const found: LookupAddress[] = addresses.map((address) => {
    return { address, family: address.includes(':') ? 6 : 4 }
  })
  const resolve: FetchOptions['resolve'] = (_host, _options, callback) => callback(null, found)
  return resolve
}

test('fetchUrl returns the response body unchanged', async (t) => {
  const requested: Record<string, unknown>[] = []
  const origin = await serve(t, (request, response) => {
    requested.push({ url: request.url, encoding: request.headers['accept-encoding'] })
    response.end('sound')
  })
  assert.equal(await fetchText(`${origin}/a.mp3?token=1`), 'sound')
  assert.deepEqual(requested, [{ url: '/a.mp3?token=1', encoding: 'identity' }])
})

const responses: [number, string][] = [
  [401, 'source_forbidden'],
  [403, 'source_forbidden'],
  [404, 'source_not_found'],
  [410, 'source_not_found'],
  [400, 'source_unreachable'],
  [304, 'source_unreachable'],
  [500, 'source_unreachable'],
  [503, 'source_unreachable'],
]
for (const [status, code] of responses) {
  test(`a source that responds with ${status} is reported as ${code}`, async (t) => {
    const origin = await serve(t, (_request, response) => response.writeHead(status).end('no'))
    const message = new RegExp(`the source responded with ${status}`)
    await assert.rejects(fetchText(origin), { code, message })
  })
}

test('only a source that asks for a later request is fetched again', async (t) => {
  const transient = async (status: number, headers: Record<string, string> = {}) => {
    const origin = await serve(t, (_request, response) => response.writeHead(status, headers).end())
    const error = await fetchText(origin).catch((error: AppError) => error)
    assert.ok(error instanceof AppError)
    return error.isTransient
  }
  assert.equal(await transient(429), true)
  assert.equal(await transient(503, { 'retry-after': '1' }), true)
  assert.equal(await transient(503), false)
  assert.equal(await transient(404, { 'retry-after': '1' }), false)
})

test('encoded and oversized bodies are rejected by their headers', async (t) => {
  const cases: [Record<string, string>, string, RegExp][] = [
    [{ 'content-encoding': 'compress' }, 'media_unsupported', /sent it compressed as compress$/],
    [{ 'content-encoding': 'gzip, br' }, 'media_unsupported', /sent it compressed$/],
    [
      { 'content-length': '1001' },
      'media_too_large',
      /more than 1000 bytes \(STENO_MAX_FILE_BYTES\)$/,
    ],
  ]
  for (const [headers, code, message] of cases) {
    const origin = await serve(t, (_request, response) => {
      response.writeHead(200, headers)
      response.write('x')
    })
    const stored = fetchUrl(origin, () => assert.fail('nothing of it may be stored'), usual)
    await assert.rejects(stored, { code, message })
  }
})

const sound = Buffer.from('a long sound '.repeat(50_000))
const compressed: [encoding: string, bytes: Buffer][] = [
  ['gzip', gzipSync(sound)],
  ['GZIP', Buffer.concat([gzipSync('a long '), gzipSync(sound.subarray(7))])],
  ['deflate', deflateSync(sound)],
  ['deflate', deflateRawSync(sound)],
  ['br', brotliCompressSync(sound)],
  ['identity', sound],
]

test('a compressed body is decompressed, and a damaged one refused', async (t) => {
  for (const [encoding, bytes] of compressed) {
    const origin = await serve(t, (request, response) => {
      response.writeHead(200, { 'content-encoding': encoding })
      response.end(request.url === '/' ? bytes : bytes.subarray(0, -20))
    })
    const options = { maxBytes: sound.length }
    assert.equal(await fetchText(origin, options), sound.toString(), encoding)
    if (encoding === 'identity') continue
    const damaged = { code: 'media_undecodable', message: /sent damaged data, compressed as/ }
    await assert.rejects(fetchText(`${origin}/damaged`, options), damaged, encoding)
  }
})

test('a compressed body that expands to nothing for ever is refused', async (t) => {
  const origin = await serve(t, async (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    const empty = gzipSync('')
    const send = () => {
      while (!response.destroyed && response.write(empty)) {}
    }
    response.on('drain', send)
    send()
  })
  await assert.rejects(fetchText(origin, { maxBytes: 1000 }), { code: 'media_too_large' })
})

test('a compressed body that breaks off, or is not read to its end, ends its connection', async (t) => {
  const closed: Promise<unknown>[] = []
  const origin = await serve(t, (request, response) => {
    const { socket } = request
    closed.push(new Promise((resolve) => socket.on('error', () => {}).on('close', resolve)))
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.write(gzipSync(randomBytes(500_000)).subarray(0, 400_000), () => {
      if (request.url === '/') response.destroy()
    })
  })
  const large = { maxBytes: 1_000_000 }
  const brokenOff = { code: 'source_unreachable', message: /broke off$/ }
  await assert.rejects(fetchText(origin, large), brokenOff)
  const store: Parameters<typeof fetchUrl>[1] = async (body) => {
    for await (const bytes of body) return assert.ok(bytes.length > 0)
  }
  await fetchUrl(`${origin}/endless`, store, { ...usual, ...large })
  await Promise.all(closed)
})

test('response headers of 20 kB are accepted, of 40 kB are not', async (t) => {
  const origin = await serve(t, (request, response) => {
    response.setHeader('x', 'y'.repeat(Number(request.url!.slice(1)))).end('sound')
  })
  assert.equal(await fetchText(`${origin}/20000`), 'sound')
  const refused = { code: 'source_unreachable', message: /headers of its answer are too large$/ }
  await assert.rejects(fetchText(`${origin}/40000`), refused)
})

test('a redirect closes its connection even if its body never ends', async (t) => {
  const closed = Promise.withResolvers<void>()
  const origin = await serve(t, (request, response) => {
    if (request.url === '/b') return response.end('sound')
    request.socket.once('close', () => closed.resolve())
    return response.writeHead(302, { location: '/b' }).write('a body without an end')
  })
  assert.equal(await fetchText(origin), 'sound')
  await closed.promise
})

const oddResponses: [title: string, answer: string, code: string, message: RegExp][] = [
  ['is no HTTP', 'SSH-2.0-OpenSSH_9.7\r\n', 'source_unreachable', /its answer is not HTTP$/],
  ['is empty', '', 'source_unreachable', /the connection broke off$/],
  [
    'changes the protocol',
    'HTTP/1.1 101 OK\r\nupgrade: x\r\n\r\n',
    'source_unreachable',
    /the connection failed$/,
  ],
  [
    'has two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
    'source_unreachable',
    /broke off$/,
  ],
  [
    'leads nowhere',
    'HTTP/1.1 302 OK\r\nlocation: http://[\r\n\r\n',
    'source_unreachable',
    /the address cannot be read$/,
  ],
  [
    'leads to two places',
    'HTTP/1.1 302 OK\r\nlocation: /a\r\nlocation: /b\r\n\r\n',
    'source_unreachable',
    /responded with 302$/,
  ],
]
for (const [title, answer, code, message] of oddResponses) {
  test(`a response that ${title} is reported in words`, async (t) => {
    const origin = await serveRaw(t, (socket) => void socket.end(answer))
    await assert.rejects(fetchText(origin), { code, message })
  })
}

test('endless informational responses time out', async (t) => {
  const origin = await serveRaw(t, (socket) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)
    const write = () => void socket.write(hints, (error) => error ?? setImmediate(write))
    write()
  })
  await assert.rejects(fetchText(origin, { timeout: 0.2 }), { code: 'source_timeout' })
})

test('private addresses are rejected in any notation', async (t) => {
  const origin = await serve(t, (_request, response) => response.end('secret'))
  const { port } = new URL(origin)
  const guarded = { allowPrivateNetwork: [] }
  const hosts = '127.0.0.1 localhost 2130706433 0x7f.1 0177.0.0.1 [::1] [::ffff:127.0.0.1] 0.0.0.0'
  for (const host of hosts.split(' ')) {
    const fetched = fetchText(`http://${host}:${port}/`, guarded)
    await assert.rejects(
      fetched,
      { code: 'source_refused', message: /not a public address$/ },
      host,
    )
  }
  assert.equal(await fetchText(origin, { allowPrivateNetwork: ['127.0.0.0/8'] }), 'secret')
})

test('a redirect to a private address is refused', async (t) => {
  const inner = await serve(t, (_request, response) => response.end('secret'))
  const outer = await serve(t, (_request, response) => {
    response.writeHead(302, { location: inner.replace('127.0.0.1', '127.0.0.2') }).end()
  })
  const fetched = fetchText(outer, { allowPrivateNetwork: ['127.0.0.1'] })
  await assert.rejects(fetched, { code: 'source_refused' })
})

test('a host with any private address is rejected unless it is allowed', async (t) => {
  const origin = await serve(t, (_request, response) => response.end('sound'))
  const url = origin.replace('127.0.0.1', 'audio.example')
  const guarded = { allowPrivateNetwork: [], resolve: resolveTo('127.0.0.1', '8.8.8.8') }
  await assert.rejects(fetchText(url, guarded), { code: 'source_refused' })
  const resolve = resolveTo('127.0.0.1')
  assert.equal(await fetchText(url, { allowPrivateNetwork: ['audio.example'], resolve }), 'sound')
})

test('schemes other than http and https are rejected, also in redirects', async (t) => {
  const origin = await serve(t, (_request, response) => {
    response.writeHead(302, { location: 'file:///etc/passwd' }).end()
  })
  await assert.rejects(fetchText('ftp://audio.example/a'), { code: 'source_refused' })
  await assert.rejects(fetchText(origin), { code: 'source_refused' })
})

test('an unavailable or interrupted source is reported as unreachable', async (t) => {
  const origin = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  await assert.rejects(fetchText(origin), { code: 'source_unreachable' })
  await assert.rejects(fetchText('http://127.0.0.1:1/'), { code: 'source_unreachable' })
  await assert.rejects(fetchText('http://nowhere.invalid/'), { code: 'source_unreachable' })
})

test('a source that exceeds the timeout is aborted', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url === '/silent') return
    response.write('a first byte, and then no more')
  })
  const timely = { timeout: 0.2 }
  for (const path of ['/silent', '/stalls']) {
    const fetched = fetchText(`${origin}${path}`, timely)
    await assert.rejects(fetched, {
      code: 'source_timeout',
      message: /longer than 0.2 s \(STENO_FETCH_TIMEOUT_S\)$/,
    })
  }
})

test('a fetch rejects with the reason of its aborted signal', async (t) => {
  const abort = new AbortController()
  const origin = await serve(t, (_request, response) => {
    response.write('a first byte', () => abort.abort(new Error('the job was stopped')))
  })
  await assert.rejects(fetchText(origin, { signal: abort.signal }), /the job was stopped/)
})

test('a body that arrives too slowly is aborted', async (t) => {
  t.mock.method(performance, 'now', () => clock)
  let clock = 0
  const origin = await serve(t, (_request, response) => {
    response.write('one')
    const timer = setInterval(() => {
      clock += 30_000
      response.write('byte')
    }, 20)
    response.on('close', () => clearInterval(timer))
  })
  await assert.rejects(fetchText(origin), { code: 'source_timeout', message: /more slowly/ })
})

test('a fetch closes its connection', { timeout: 60_000 }, async (t) => {
  const closed: Promise<unknown>[] = []
  const origin = await serve(t, (request, response) => {
    closed.push(once(request.socket, 'close'))
    response.end('sound')
  })
  await fetchText(origin)
  assert.equal(closed.length, 1)
  await closed[0]
})

test('an error of the store is passed on unchanged', async (t) => {
  const origin = await serve(t, (_request, response) => response.end('sound'))
  const broken = new TypeError('a mistake of ours')
  const stored = fetchUrl(origin, () => Promise.reject(broken), usual)
  await assert.rejects(stored, broken)
})

test("each chunk of a body waits for the account's turn to write", async (t) => {
  const { mock } = t.mock.method(receiveScheduler, 'next')
  const origin = await serve(t, (_request, response) => response.end('sound'))
  await fetchText(origin)
  assert.deepEqual(
    mock.calls.map((one) => one.arguments),
    [['acme']],
  )
})
