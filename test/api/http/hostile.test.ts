import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import { ownHeaders, type RawResponse, requestRaw } from '../../support/api/hostile-requests.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, sendRaw, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
let audioUrl: string

before(async () => {
  server = await startServer()
  audioUrl = await upload(server, createToneWav(0.5))
})
after(async () => {
  assert.equal((await call(server, '/health')).status, 200, 'the server outlives every test')
  await server.close()
})

function request(method: string, path: string, more = ''): Promise<RawResponse> {
  return requestRaw(server, `${method} ${path} HTTP/1.1\r\n${ownHeaders(server)}${more}\r\n`)
}

/** A creation with these headers and bytes. */
function create(body: string, type = 'application/json'): Promise<RawResponse> {
  const head = `content-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  return requestRaw(server, `POST /v2/pre-recorded HTTP/1.1\r\n${ownHeaders(server)}${head}`)
}

/** A creation whose body is framed by these headers. */
function createFramed(framing: string, body: string): Promise<RawResponse> {
  const head = `content-type: application/json\r\n${framing}\r\n\r\n${body}`
  return requestRaw(server, `POST /v2/pre-recorded HTTP/1.1\r\n${ownHeaders(server)}${head}`)
}

const paths: [method: string, path: string, status: number, allow?: string][] = [
  ['POST', '/v2//upload', 404],
  ['POST', '//v2/upload', 415], // The base URL ends with a slash.
  ['POST', '/v2/upload//', 404],
  ['POST', '/V2/upload', 404],
  ['POST', '/v2/./upload', 404],
  ['POST', '/v2/x/../upload', 404],
  ['POST', '/v2%2fupload', 404],
  ['POST', '/v2/upload%00', 404],
  ['POST', '/v2/upload;a=1', 404],
  ['POST', '/v2/upl%C3%28', 404],
  ['POST', '\\v2\\upload', 400],
  ['POST', '/v2/\u00e4', 400],
  ['GET', '/v2/li\u0000ve', 400],
  ['POST', '/v2/%75pload', 415],
  ['GET', '/v2/%75pload', 405, 'POST'],
  ['HEAD', '/v2/%75pload', 405, 'POST'],
  ['OPTIONS', '/v2/upload', 405, 'POST'],
  ['OPTIONS', '/v2/pre-recorded', 405, 'GET, HEAD, POST'],
  ['OPTIONS', '*', 404],
  ['TRACE', '/health', 405, 'GET, HEAD'],
  ['CONNECT', 'a.example:443', 400],
  ['GET', `/v2/upload?${'x'.repeat(8000)}`, 405, 'POST'],
  ['GET', `/v2/live?${'a=b&'.repeat(3000)}`, 200],
  ['GET', `/${'x'.repeat(14_000)}`, 404],
  ['GET', `/${'x'.repeat(20_000)}`, 431],
]
for (const [method, path, status, allow] of paths) {
  test(`${method} ${JSON.stringify(path.slice(0, 30))} gets ${status}`, async () => {
    if (method === 'HEAD') {
      const response = await fetch(server.url + path, { method })
      assert.deepEqual([response.status, response.headers.get('allow')], [status, allow])
      return
    }
    const answer = await request(method, path)
    assert.equal(answer.status, status)
    assert.equal(answer.headers.get('allow'), allow ?? null)
  })
}

const ids = [
  ...[
    'x',
    'x'.repeat(101),
    'x'.repeat(3000),
    '%00',
    '..',
    '.',
    '..%2f..%2fetc%2fpasswd',
    '%',
    '%ff',
  ],
  ...['{id}', "'%20or%201=1", '%F0%9F%98%80', '00000000-0000-0000-0000-00000000000A', '__proto__'],
  ...['0000000000000000-0000-0000-0000-00000000', '-1', 'null', '%0d%0ax:%20y'],
]
const idRoutes: [method: string, path: string][] = [
  ['GET', '/file/ID'],
  ...['pre-recorded', 'live', 'transcription'].flatMap((kind): [string, string][] => [
    ['GET', `/v2/${kind}/ID`],
    ['DELETE', `/v2/${kind}/ID`],
    ['GET', `/v2/${kind}/ID/file`],
  ]),
  ['GET', '/v2/pre-recorded/ID/progress'],
]
for (const [method, path] of idRoutes) {
  test(`${method} ${path} gets 404 for anything that is not an id`, async () => {
    for (const id of ids) {
      const response = await request(method, path.replace('ID', id))
      assert.equal(response.status, 404, id.slice(0, 50))
    }
  })
}

test('two Host headers get 400, even if equal', async () => {
  for (const host of ['b', 'a']) {
    const answer = await request('GET', '/health', `host: ${host}\r\n`)
    assert.equal(answer.status, 400)
    assert.match(answer.content, /Host header/)
  }
})

test('an idle connection stays open for longer than proxies keep one for reuse', async () => {
  const { headers } = await call(server, '/health')
  const [, seconds] = /^timeout=(\d+)$/.exec(headers.get('keep-alive') ?? '') ?? []
  assert.ok(Number(seconds) > 120, `seconds: ${seconds}`)
})

test('an offered protocol upgrade is ignored', async () => {
  for (const offer of ['websocket', 'h2c', 'TLS/1.2']) {
    const answer = await request('GET', '/v2/pre-recorded', `upgrade: ${offer}\r\n`)
    assert.equal(answer.status, 200)
  }
})

const malformed: [title: string, head: string][] = [
  ['a blank before a colon', 'x : y\r\n'],
  ['a folded header', 'x: a\r\n b\r\n'],
  ['a nul byte in a header', 'x: a\u0000b\r\n'],
  ['a bare line feed', 'x: y\n\n'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\n'],
]
for (const [title, head] of malformed) {
  test(`a request with ${title} gets 400`, async () => {
    assert.equal((await request('GET', '/health', head)).status, 400)
  })
}

const framings: [title: string, framing: string, body: string, status: number][] = [
  ['chunks', 'transfer-encoding: chunked', '2\r\n{}\r\n0\r\n\r\n', 400],
  [
    'chunks with trailers',
    'transfer-encoding: chunked\r\ntrailer: x',
    'b\r\n{"a":"bcde"\r\n1\r\n}\r\n0\r\nx: y\r\nhost: c\r\n\r\n',
    400,
  ],
  ['no chunks', 'transfer-encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n', 400],
  [
    'a chunk with 20 kB beside it',
    'transfer-encoding: chunked',
    `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    431,
  ],
  [
    'length and chunks',
    'content-length: 2\r\ntransfer-encoding: chunked',
    '2\r\n{}\r\n0\r\n\r\n',
    400,
  ],
  ['the encoding identity', 'transfer-encoding: identity', '{}', 400],
  ['the encoding xchunked', 'transfer-encoding: xchunked', '2\r\n{}\r\n0\r\n\r\n', 400],
  ['a length of +2', 'content-length: +2', '{}', 400],
  ['a length beyond all', 'content-length: 99999999999999999999', '{}', 400],
  ['a length of 0x2', 'content-length: 0x2', '{}', 400],
  ['a length of one byte less', 'content-length: 1', '{}', 400],
]
for (const [title, framing, body, status] of framings) {
  test(`creating a job framed by ${title} gets ${status}`, async () => {
    assert.equal((await createFramed(framing, body)).status, status)
  })
}

/** A body in chunks of so many bytes each. */
function chunked(body: string, size: number): string {
  const chunks = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
  return `${chunks.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join('')}0\r\n\r\n`
}

test('a body in thousands of tiny chunks gets 400, in small ones it is accepted', async () => {
  const framing = 'transfer-encoding: chunked'
  const body = `${JSON.stringify({ audio_url: audioUrl })}${' '.repeat(100_000)}`
  assert.equal((await createFramed(framing, chunked(body, 64))).status, 201)
  assert.equal((await createFramed(framing, chunked(body.slice(0, 900), 1))).status, 201)
  const { status, content } = await createFramed(framing, chunked(body, 1).slice(0, 50_000))
  assert.equal(status, 400)
  assert.match(content, /chunks of its body are too small/)
})

const charsets: [type: string, status: number][] = [
  ['application/json; charset=utf-8', 201],
  ['application/json;charset=UTF-8', 201],
  ['application/json; charset="Utf-8"', 201],
  ['application/json ; Charset = utf8; a=b', 201],
  ['application/json; profile="x"', 201],
  ['application/json;', 201],
  ['application/json; charset=utf-16', 415],
  ['application/json; charset="utf-16"', 415],
  ['application/json; charset=latin1', 415],
  ['application/json; charset=', 415],
  ["application/json; charset='utf-8'", 415],
  ['application/json; charset=utf-8; charset=utf-16', 415],
  ['application/json; charset="utf-8', 415],
]
for (const [type, status] of charsets) {
  test(`creating a job of type ${type} gets ${status}`, async () => {
    assert.equal((await create(JSON.stringify({ audio_url: audioUrl }), type)).status, status)
  })
}

test('one byte order mark before a body is skipped, a second one is invalid', async () => {
  const body = JSON.stringify({ audio_url: audioUrl })
  assert.equal((await create(`\u00ef\u00bb\u00bf${body}`)).status, 201)
  const twice = await create(`\u00ef\u00bb\u00bf\u00ef\u00bb\u00bf${body}`)
  assert.equal(twice.status, 400)
  assert.match(twice.content, /not valid JSON/)
})

/** Creates a job from the text of a body and reads it back. */
async function createAndGet(body: string): Promise<JobView> {
  const { status, content } = await create(body)
  assert.equal(status, 201, content)
  const { id } = JSON.parse(content) as { id: string }
  return (await call<JobView>(server, `/v2/pre-recorded/${id}`)).body
}

test('fields named like prototype members are ignored at every depth', async () => {
  const unknown = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'
  const fields = `"audio_url":${JSON.stringify(audioUrl)},"diarization_config":{${unknown}}`
  const job = await createAndGet(`{${unknown},"\\u005f_proto__":1,${fields}}`)
  assert.deepEqual(job.request_params?.diarization_config, {})
  assert.equal(job.custom_metadata, undefined)
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('in free-form objects such keys are kept', async () => {
  const metadata = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":"b"}'
  const spelling = '{"spelling_dictionary":{"__proto__":["proto"],"constructor":["builder"]}}'
  const body = `{"audio_url":${JSON.stringify(audioUrl)},"custom_metadata":${metadata},"custom_spelling_config":${spelling}}`
  const job = await createAndGet(body)
  assert.equal(JSON.stringify(job.custom_metadata), metadata)
  assert.equal(JSON.stringify(job.request_params?.custom_spelling_config), spelling)
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('of a duplicate field the last one is used', async () => {
  const url = JSON.stringify(audioUrl)
  const twice = await create(`{"audio_url":${url},"audio_url":5}`)
  assert.match(twice.content, /audio_url must be an absolute/)
  const job = await createAndGet(
    `{"audio_url":5,"audio_url":${url},"sentences":true,"sentences":false}`,
  )
  assert.equal(job.request_params?.sentences, false)
})

test('numbers outside the safe range are rejected', async () => {
  const fields = `"audio_url":${JSON.stringify(audioUrl)},"diarization_config":`
  for (const number of ['1e999', '-1e999', '1e16', '9007199254740993']) {
    const { status, content } = await create(`{${fields}{"min_speakers":${number}}}`)
    assert.equal(status, 400, number)
    assert.match(content, /diarization_config\.min_speakers must be an integer/)
  }
  assert.equal((await create(`{${fields}{"min_speakers":2.0e0}}`)).status, 201)
})

test('a lone surrogate is kept in free text and rejected in a URL', async () => {
  const url = JSON.stringify(audioUrl)
  const job = await createAndGet(`{"audio_url":${url},"custom_metadata":{"a":"\\ud800\\u0000"}}`)
  assert.equal(JSON.stringify(job.custom_metadata), '{"a":"\\ud800\\u0000"}')
  const { content } = await create('{"audio_url":"http://a.example/\\ud800"}')
  assert.match(content, /audio_url must be an absolute/)
})

test('a JSON body of one mebibyte is accepted, one byte more is not', async () => {
  const start = `{"audio_url":${JSON.stringify(audioUrl)},"x":"`
  const body = (size: number) => `${start}${'x'.repeat(size - start.length - 2)}"}`
  assert.equal((await create(body(1024 * 1024))).status, 201)
  assert.equal((await create(body(1024 * 1024 + 1))).status, 413)
})

test('fields named like prototype members are reported if unknown ones are rejected', async (t) => {
  const strict = await startServer({ env: { STENO_UNKNOWN_FIELDS: 'reject' } })
  t.after(() => strict.close())
  const body = '{"audio_url":"http://a.example/","__proto__":1,"constructor":2}'
  const headers = { 'content-type': 'application/json' }
  const answer = await call<ErrorBody>(strict, '/v2/pre-recorded', {
    method: 'POST',
    headers,
    body,
  })
  assert.deepEqual(answer.body.validation_errors, [
    '__proto__ must not be given: unknown field',
    'constructor must not be given: unknown field',
  ])
})

test('a few pipelined requests are answered in order', async () => {
  const paths = ['/health', '/nowhere', '/health']
  const requests = paths.map((path, i) => {
    return `GET ${path} HTTP/1.1\r\nhost: a\r\n${i === 2 ? 'connection: close\r\n' : ''}\r\n`
  })
  const responses = await sendRaw(server, requests.join(''))
  const statuses = [...responses.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  assert.deepEqual(statuses, [200, 404, 200])
})

test('thousands of pipelined requests are not all handled', async () => {
  const before = await handledRequests()
  // The connection is reset: how much of the responses arrives is chance.
  await sendRaw(server, 'GET /health HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2000)).catch(() => {})
  assert.ok((await handledRequests()) - before <= 66)
})

/** How many requests for `/health` the server has handled. */
async function handledRequests(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const counts = text.matchAll(/^steno_http_request_seconds_count\{[^}]*"\/health"[^}]*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

test('a client that requests a tunnel or upgrade and resets does not end the server', async () => {
  const { hostname, port } = new URL(server.url)
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
  const pipelined = 'GET /health HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(100)
  const texts = [
    'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n',
    `GET /v2/live?token=x HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n`,
    `GET /v1/realtime HTTP/1.1\r\nhost: a\r\n${upgrade}\r\n`,
    pipelined,
  ]
  for (const text of texts) {
    for (let n = 0; n < 20; n++) {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      socket.write(text, () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    assert.equal((await call(server, '/health')).status, 200, text.slice(0, 20))
  }
})
