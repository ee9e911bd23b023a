import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { sha256 } from '../../../src/api/auth/check-key.ts'
import { type ErrorCode, httpStatusOf } from '../../../src/errors.ts'
import { insertKey } from '../../../src/storage/accounts/keys.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, sendRaw, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

const ID = '00000000-0000-0000-0000-000000000000'

let server: TestServer

before(async () => {
  server = await startServer({ env: { STENO_REQUEST_ID_HEADER_NAMES: 'X-Trace' } })
})
after(async () => {
  assert.equal((await call(server, '/health')).status, 200, 'the server outlives every test')
  await server.close()
})

/** Everything that the API asks of a response that is no success. */
function assertErrorBody(
  { status, headers, body }: { status: number; headers: Headers; body: ErrorBody },
  path: string,
): void {
  const { timestamp, request_id, validation_errors: _, ...rest } = body
  assert.deepEqual(rest, { path, statusCode: status, message: body.message })
  assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.match(request_id, /^G-[0-9a-f]{8}$/)
  assert.equal(headers.get('x-request-id'), request_id)
  assert.equal(headers.get('x-trace'), request_id)
  assert.equal(httpStatusOf(headers.get('x-error-code') as ErrorCode), status)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.ok(body.message.length > 0 && body.message.length < 20_000)
}

const unknownPaths = ['/', '/v2', '/v2/uploads', '/v2/pre-recorded/a/b/c', '//', '/v2//upload']

for (const path of [
  ...unknownPaths,
  '/v2/pre-recorded/%zz',
  '/%',
  '/file/',
  '/V2/upload',
  '/health/x',
]) {
  test(`404 for ${path}, with or without a key`, async () => {
    for (const headers of [{}, { 'x-service-key': 'wrong' }]) {
      const response = await call<ErrorBody>(server, `${path}?secret=1`, {
        headers,
        method: 'POST',
        body: 'x',
      })
      assert.equal(response.status, 404)
      assertErrorBody(response, path)
    }
  })
}

const wrongMethods: [method: string, path: string, allow: string][] = [
  ['GET', '/v2/upload', 'POST'],
  ['PUT', '/v2/pre-recorded', 'GET, HEAD, POST'],
  ['PATCH', `/v2/pre-recorded/${ID}`, 'DELETE, GET, HEAD'],
  ['POST', `/v2/pre-recorded/${ID}/`, 'DELETE, GET, HEAD'],
  ['POST', `/file/${ID}`, 'GET, HEAD'],
  ['DELETE', `/v2/pre-recorded/${ID}/file?x`, 'GET, HEAD'],
  ['OPTIONS', '/v2/transcription', 'GET, HEAD, POST'],
  ['PROPFIND', '/v2/live', 'GET, HEAD, POST'],
  ['POST', '/ready', 'GET, HEAD'],
]

for (const [method, path, allow] of wrongMethods) {
  test(`405 for ${method} ${path}, even without a key`, async () => {
    const headers = { 'x-service-key': '', 'content-type': 'text/plain' }
    const response = await call<ErrorBody>(server, path, { method, headers })
    assert.equal(response.status, 405)
    assert.equal(response.headers.get('allow'), allow)
    assertErrorBody(response, path.split('?', 1)[0]!)
  })
}

test('a trailing slash in a path is ignored', async () => {
  for (const path of ['/health/', '/v2/pre-recorded/', '/v2/live/?limit=1']) {
    assert.equal((await call(server, path)).status, 200, path)
  }
  const { body } = await call<ErrorBody>(server, `/v2/live/${ID}/`)
  assert.equal(body.path, `/v2/live/${ID}/`)
})

const guarded: [method: string, path: string][] = [
  ['POST', '/v2/upload'],
  ['GET', `/file/${ID}`],
  ['POST', '/v2/transcription'],
  ['GET', '/v2/live'],
  ...['GET', 'DELETE'].map((method): [string, string] => [method, `/v2/pre-recorded/${ID}`]),
  ['GET', `/v2/pre-recorded/${ID}/file`],
  ['GET', `/v2/pre-recorded/${ID}/progress`],
]

for (const [method, path] of guarded) {
  test(`401 for ${method} ${path} with an unknown key, whatever the body`, async () => {
    for (const headers of [[], [['x-service-key', 'nope']], [['x-service-key', '']]] as [
      string,
      string,
    ][][]) {
      const content: [string, string] = ['content-type', 'text/csv']
      const response = await fetch(server.url + path, {
        method,
        headers: [...headers, content],
        body: method === 'POST' ? 'x'.repeat(2_000_000) : null,
      })
      const body = (await response.json()) as ErrorBody
      assert.equal(response.status, 401)
      assertErrorBody({ status: 401, headers: response.headers, body }, path)
      assert.ok(!body.message.includes('nope'))
    }
  })
}

test('a key sent twice is rejected', async () => {
  const response = await fetch(`${server.url}/v2/live`, {
    headers: [
      ['x-service-key', server.key],
      ['X-Service-Key', server.key],
    ],
  })
  assert.equal(response.status, 401)
})

test('of several configured key headers the first one present is used', async (t) => {
  const env = { STENO_AUTH_HEADER_NAMES: 'X-First,x-second', STENO_API_KEYS: 'a:one,b:two' }
  const named = await startServer({ env })
  t.after(() => named.close())
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${named.url}/v2/live`, { headers })).status
  assert.equal(await status({ 'x-first': 'one' }), 200)
  assert.equal(await status({ 'X-SECOND': 'two' }), 200)
  assert.equal(await status({ 'x-first': 'wrong', 'x-second': 'two' }), 401)
  assert.equal(await status({ 'x-service-key': 'one' }), 401)
})

test('a stored key gives access to its account', async (t) => {
  const keys = await startServer()
  t.after(() => keys.close())
  const key = 'steno_stored'
  const hash = sha256(key).toString('hex')
  const stored = { hash, account: 'other', prefix: 'steno_', createdAt: Date.now() }
  await insertKey(keys.app.storage.db, stored)
  const audioUrl = await upload({ ...keys, key: OTHER_KEY }, createToneWav(0.5))
  assert.equal((await call({ ...keys, key }, audioUrl)).status, 200)
  assert.equal((await call({ ...keys, key: hash }, audioUrl)).status, 401)
})

const types: [type: string | undefined, status: number][] = [
  ['application/json; charset=utf-8', 400],
  ['APPLICATION/JSON', 400],
  [undefined, 415],
  ['', 415],
  ['text/plain', 415],
  ['text/json', 415],
  ['application/jsonp', 415],
  ['application/x-www-form-urlencoded', 415],
  ['multipart/form-data; boundary=x', 415],
  ['json', 415],
  ['application/json, text/html', 415],
]

for (const [type, status] of types) {
  test(`creating a job with content type ${type} gets ${status}`, async () => {
    const body = new Blob(['{}'])
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
    const response = await call<ErrorBody>(server, '/v2/pre-recorded', {
      method: 'POST',
      headers,
      body,
    })
    assert.equal(response.status, status)
    assertErrorBody(response, '/v2/pre-recorded')
  })
}

test('raw bytes instead of a form get a 415 that says what to send', async () => {
  const init = { method: 'POST', headers: { 'content-type': 'audio/mpeg' }, body: 'ID3' }
  const { status, body } = await call<ErrorBody>(server, '/v2/upload', init)
  assert.equal(status, 415)
  assert.match(body.message, /send application\/json, recordings as a form$/)
})

test('creating a job without a body or with a compressed one gets 415', async () => {
  const empty = await call<ErrorBody>(server, '/v2/pre-recorded', { method: 'POST' })
  assert.equal(empty.status, 415)
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const body = gzipSync('{}')
  const packed = await call<ErrorBody>(server, '/v2/pre-recorded', {
    method: 'POST',
    headers,
    body,
  })
  assert.equal(packed.status, 415)
})

function nested(open: string, close: string, depth: number): string {
  return `{"custom_metadata":${open.repeat(depth)}1${close.repeat(depth)}}`
}

const tooLong = /1048576 bytes of JSON \(STENO_MAX_JSON_BYTES\)$/
const bodies: [title: string, body: string | Uint8Array<ArrayBuffer>, message: RegExp][] = [
  ['nothing', '', /empty/],
  ['a blank', ' ', /not valid JSON/],
  ['half an object', '{"audio_url":', /not valid JSON/],
  ['a bare word', 'undefined', /not valid JSON/],
  ['single quotes', "{'a':1}", /not valid JSON/],
  ['a trailing comma', '{"a":1,}', /not valid JSON/],
  ['not a number', '{"a":NaN}', /not valid JSON/],
  ['two values', '{}{}', /not valid JSON/],
  ['a list', '[]', /a JSON object/],
  ['a text', '"text"', /a JSON object/],
  ['a number', '5', /a JSON object/],
  ['null', 'null', /a JSON object/],
  ['a control character in a text', '{"a":"\u0001"}', /not valid JSON/],
  ['broken UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
  ['65 values in each other', nested('[', ']', 64), /deeper than 64/],
  ['half a million lists in each other', nested('[', ']', 500_000), /deeper than 64/],
  ['a hundred objects in each other', nested('{"a":', '}', 100), /deeper than 64/],
  ['half a million opened lists', '['.repeat(500_000), /deeper than 64/],
  ['64 values in each other', nested('[', ']', 63), /validation_errors/],
  ['brackets in a text', `{"audio_url":"${'[{'.repeat(1000)}\\"["}`, /validation_errors/],
  ['__proto__', '{"__proto__":{"polluted":1}}', /validation_errors/],
  ['__proto__ in escapes', '{"\\u005f_proto__":{"polluted":1}}', /validation_errors/],
  ['__proto__ in metadata', '{"custom_metadata":{"__proto__":{"x":1}}}', /validation_errors/],
  ['constructor.prototype', '{"constructor":{"prototype":{"polluted":1}}}', /validation_errors/],
  ['a number beyond all', '{"audio_url":1e999}', /validation_errors/],
  ['thousands of unknown fields', `{${'"a":1,'.repeat(150_000)}"b":1}`, /validation_errors/],
  ['a megabyte and more', `{"a":"${'x'.repeat(1024 * 1024)}"}`, tooLong],
  ['ten megabytes', `{"a":"${'x'.repeat(10 * 1024 * 1024)}"}`, tooLong],
]

for (const [title, body, message] of bodies) {
  test(`a body that is ${title} is rejected: ${message.source}`, async () => {
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body }
    const response = await call<ErrorBody>(server, '/v2/pre-recorded', request)
    assert.equal(response.status, message.source.includes('bytes') ? 413 : 400)
    assertErrorBody(response, '/v2/pre-recorded')
    assert.match(response.body.message, message)
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
    assert.ok(!response.body.message.includes('xxxx'), 'what was sent is not repeated')
  })
}

test('a 413 reaches a client that reads only after writing the body', async () => {
  const body = `{"a":"${'x'.repeat(8_000_000)}"}`
  const head = [
    'POST /v2/pre-recorded HTTP/1.1',
    'host: a',
    `x-service-key: ${server.key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  const response = await sendRaw(server, `${head.join('\r\n')}\r\n\r\n${body}`)
  assert.match(response, /^HTTP\/1\.1 413 /)
})

test('a connection is kept after a rejected body', async () => {
  const request = (body: string, more: string) =>
    `POST /v2/pre-recorded HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`
  const big = 'x'.repeat(1_100_000)
  const response = await sendRaw(server, request(big, '') + request('{', 'connection: close\r\n'))
  assert.deepEqual(response.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413', 'HTTP/1.1 400'])
})

/** Requests that no HTTP client would write. */
const raw: [title: string, request: string, status: number, path: string][] = [
  ['garbage', '\u0000\u0001\u0002\r\n\r\n', 400, '/'],
  ['a method that does not exist', 'FETCH /v2/live HTTP/1.1\r\nhost: a\r\n\r\n', 400, '/v2/live'],
  ['a version that does not exist', 'GET /v2/live HTTP/9.1\r\nhost: a\r\n\r\n', 400, '/v2/live'],
  ['no host', 'GET /v2/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400, '/v2/live'],
  [
    'a host that is a path',
    'GET /v2/live HTTP/1.1\r\nhost: a/b?c\r\nconnection: close\r\n\r\n',
    400,
    '/v2/live',
  ],
  ['an empty host', 'GET / HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n', 400, '/'],
  [
    'a header without colon',
    'GET /v2/live?a HTTP/1.1\r\nhost: a\r\nnonsense\r\n\r\n',
    400,
    '/v2/live',
  ],
  [
    'a length that is no number',
    'POST /v2/live HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n',
    400,
    '/v2/live',
  ],
  [
    'two lengths',
    'POST /v2/live HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    400,
    '/v2/live',
  ],
  [
    'length and chunks',
    'POST /v2/live HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    400,
    '/v2/live',
  ],
  [
    'headers of 100 kB',
    `GET /v2/live HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    431,
    '/v2/live',
  ],
  ['a path of 100 kB', `GET /${'y'.repeat(100_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431, ''],
  [
    'an unknown expectation',
    'GET /v2/x HTTP/1.1\r\nhost: a\r\nexpect: cake\r\nconnection: close\r\n\r\n',
    404,
    '/v2/x',
  ],
  [
    'an absolute target',
    'GET http://b/v2/x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    404,
    'http://b/v2/x',
  ],
]

for (const [title, request, status, path] of raw) {
  test(`a request with ${title} gets ${status} with the common error body`, async () => {
    const response = await sendRaw(server, request)
    const [head = '', content = ''] = response.split('\r\n\r\n', 2)
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
    const [, ...lines] = head.split('\r\n')
    const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]))
    const body = JSON.parse(content) as ErrorBody
    if (path !== '') assertErrorBody({ status, headers, body }, path)
  })
}

test('HTTP/1.0 without a Host header is served', async () => {
  const response = await sendRaw(
    server,
    `GET /v2/live HTTP/1.0\r\nx-service-key: ${server.key}\r\n\r\n`,
  )
  assert.match(response, /^HTTP\/1\.1 200 /)
  assert.match(response, /"first":"http:\/\/127\.0\.0\.1:\d+\/v2\/live\?/)
})

test('HEAD responds like GET without a body', async () => {
  for (const [path, status] of [
    ['/health', 200],
    ['/v2/live', 200],
    [`/v2/live/${ID}`, 404],
    ['/nowhere', 404],
    ['/v2/upload', 405],
  ] as const) {
    const response = await fetch(server.url + path, {
      method: 'HEAD',
      headers: { 'x-service-key': server.key },
    })
    assert.equal(response.status, status, path)
    assert.equal(await response.text(), '')
  }
})

test('the request id of a client is ignored', async () => {
  const headers = { 'x-request-id': 'mine', 'request-id': 'mine' }
  const first = await call(server, '/health', { headers })
  const second = await call(server, '/health', { headers })
  assert.match(first.headers.get('x-request-id') ?? '', /^G-[0-9a-f]{8}$/)
  assert.notEqual(first.headers.get('x-request-id'), second.headers.get('x-request-id'))
})

test('an interrupted body does not affect other requests', async () => {
  const { hostname, port } = new URL(server.url)
  for (const ending of ['destroy', 'end'] as const) {
    const closed = Promise.withResolvers<void>()
    const socket = connect(Number(port), hostname)
    socket.on('close', () => closed.resolve()).on('error', () => {})
    const head = `POST /v2/pre-recorded HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\n`
    const sent = `${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"aud`
    socket.write(sent, () => {
      socket[ending]()
      socket.resume()
    })
    await closed.promise
  }
  assert.equal((await call(server, '/v2/live')).status, 200)
})
