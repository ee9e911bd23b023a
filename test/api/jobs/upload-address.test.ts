import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, type Uploaded } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

const recording = createToneWav(1.5, 2)
const MAX_BYTES = 100_000

/** What the source answers, path by path. */
const pages: Record<string, RequestListener> = {
  '/calls/Call%20No%201.wav': (_, response) => response.end(recording),
  '/a%0d%0aX:y.wav': (_, response) => response.end(recording),
  '/..%2f..%2fetc%2fx.wav': (_, response) => response.end(recording),
  '/moved': (_, response) =>
    response.writeHead(302, { location: '/calls/Call%20No%201.wav' }).end(),
  '/endless': (_, response) => response.writeHead(302, { location: '/endless' }).end(),
  '/private': (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
  '/empty': (_, response) => response.end(),
  '/page': (_, response) => response.setHeader('content-type', 'text/html').end('<html>'),
  '/noise': (_, response) => response.end(Buffer.alloc(5000, 'noise')),
  '/half': (_, response) => response.end(recording.subarray(0, 20)),
  '/damaged': (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    response.end(gzipSync(recording).subarray(0, -20))
  },
  '/large': (_, response) => response.end(Buffer.alloc(MAX_BYTES + 1)),
  '/streamed': (_, response) => {
    response.write(recording)
    response.end(Buffer.alloc(MAX_BYTES))
  },
  '/expands': (_, response) => {
    response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(MAX_BYTES + 1)))
  },
  '/breaks': (_, response) => {
    response.writeHead(200, { 'content-length': '9999' })
    response.write('half', () => response.destroy())
  },
  '/headers': (_, response) => response.setHeader('x', 'y'.repeat(40_000)).end(recording),
  '/401': (_, response) => response.writeHead(401).end(),
  '/404': (_, response) => response.writeHead(404).end(),
  '/503': (_, response) => response.writeHead(503).end(),
}

const source = createServer((request, response) => {
  if (request.url === '/waits') return void response.write(recording)
  pages[request.url!]!(request, response)
})

let server: TestServer
let origin: string

before(async () => {
  await once(source.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(source.address() as AddressInfo).port}`
  const env = {
    STENO_MAX_FILE_BYTES: String(MAX_BYTES),
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
    STENO_FETCH_TIMEOUT_S: '30',
    STENO_MAX_CONCURRENT_JOBS: '1',
  }
  server = await startServer({ env })
})
after(async () => {
  source.close()
  source.closeAllConnections()
  const { db, objects } = server.app.storage
  const stored = await db.sql.selectFrom('files').select('id').execute()
  const known = new Set(stored.map(({ id }) => id))
  for await (const ids of objects.list()) {
    for (const id of ids) assert.ok(known.has(id), 'no refused upload leaves an object behind')
  }
  await server.close()
})

function send<T = ErrorBody>(json: unknown) {
  return call<T>(server, '/v2/upload', { json })
}

test('an upload by URL is fetched at once and answered like a form, with its source', async () => {
  const audio_url = `${origin}/calls/Call%20No%201.wav`
  const { status, body } = await send<Uploaded>({ audio_url, unknown: 1 })
  assert.equal(status, 200)
  const { id, ...metadata } = body.audio_metadata
  assert.deepEqual(metadata, {
    filename: 'Call No 1.wav',
    extension: 'wav',
    size: recording.length,
    audio_duration: 1.5,
    number_of_channels: 2,
    source: audio_url,
  })
  assert.equal(body.audio_url, `${server.url}/file/${id}`)
  const headers = { 'x-service-key': server.key }
  const file = await fetch(body.audio_url, { headers })
  assert.deepEqual(new Uint8Array(await file.arrayBuffer()), recording)
})

test('a job transcribes the fetched upload without fetching it again', async () => {
  let fetched = 0
  source.on('request', () => fetched++)
  const { body } = await send<Uploaded>({ audio_url: `${origin}/moved` })
  assert.equal(fetched, 2)
  const json = { audio_url: body.audio_url }
  const created = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  const { body: job } = await call<JobView>(server, `/v2/pre-recorded/${created.body.id}`)
  assert.equal(job.status, 'done')
  assert.equal(job.file?.id, body.audio_metadata.id)
  assert.equal(job.file?.source, null, 'the job comes from an upload')
  assert.equal(fetched, 2)
})

test('the file name is the decoded last path segment', async () => {
  const names: [path: string, name: RegExp][] = [
    ['/a%0d%0aX:y.wav', /^aX:y\.wav$/],
    ['/..%2f..%2fetc%2fx.wav', /^x\.wav$/],
    ['/moved', /^moved$/],
  ]
  for (const [path, name] of names) {
    const { body } = await send<Uploaded>({ audio_url: origin + path })
    assert.match(body.audio_metadata.filename, name)
  }
})

test('the URL of an upload gets the same upload again, and 400 if there is none', async () => {
  const { body: first } = await send<Uploaded>({ audio_url: `${origin}/moved` })
  const again = await send<Uploaded>({ audio_url: first.audio_url })
  assert.deepEqual([again.status, again.body], [200, first])
  const missing = first.audio_url.replace(/.{4}$/, 'ffff')
  const { status, body } = await send({ audio_url: missing })
  const line = 'audio_url must name an uploaded file that exists'
  assert.deepEqual([status, body.validation_errors], [400, [line]])
})

const invalid: [body: unknown, line: string][] = [
  [{}, 'audio_url is required'],
  [{ audio_url: null }, 'audio_url is required'],
  [{ audio_url: 5 }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: 'a.mp3' }, 'audio_url must be an absolute http or https URL'],
  [{ audio_url: 'file:///etc/passwd' }, 'audio_url must be an absolute http or https URL'],
]
for (const [json, line] of invalid) {
  test(`an upload of ${JSON.stringify(json)} gets 400: ${line}`, async () => {
    const { status, body } = await send(json)
    assert.equal(status, 400)
    assert.deepEqual(body.validation_errors, [line])
  })
}

test('an invalid JSON body gets 400, an oversized one 413, none 415', async () => {
  assert.equal((await send([])).status, 400)
  assert.equal((await send({ audio_url: 'x'.repeat(1024 * 1024) })).status, 413)
  const headers = { 'content-type': 'application/json' }
  const bare = { method: 'POST', headers: { 'content-type': '' } }
  assert.equal((await call(server, '/v2/upload', bare)).status, 415)
  assert.equal((await call(server, '/v2/upload', { method: 'POST', headers })).status, 400)
})

const failing: [path: string, status: number, message: RegExp][] = [
  ['/401', 400, /Cannot fetch the audio: the source responded with 401$/],
  ['/404', 400, /Cannot find the audio: the source responded with 404$/],
  ['/503', 400, /Cannot reach the audio source: the source responded with 503$/],
  ['/breaks', 400, /Cannot reach the audio source: the connection broke off$/],
  ['/headers', 400, /Cannot reach the audio source: the headers of its answer are too large$/],
  ['/endless', 400, /Cannot reach the audio source: it redirected more than 5 times$/],
  ['/private', 400, /Cannot fetch from this address: it is not a public address$/],
]
for (const [path, status, message] of failing) {
  test(`a failed fetch of ${path} gets ${status} with the reason`, async () => {
    const { status: found, body, headers } = await send({ audio_url: origin + path })
    assert.equal(found, status)
    assert.match(body.message, message)
    const [line = '', ...others] = body.validation_errors ?? []
    assert.match(line, /^audio_url must lead to audio that can be fetched: /)
    assert.match(line, message)
    assert.equal(others.length, 0)
    assert.equal(headers.get('x-error-code'), 'request_invalid')
    assert.doesNotMatch(JSON.stringify(body), /10\.0\.0\.1|127\.0\.0\.1|ERR_/)
  })
}

const unusable: [path: string, status: number][] = [
  ['/empty', 400],
  ['/page', 415],
  ['/noise', 415],
  ['/half', 415],
  ['/damaged', 415],
  ['/large', 413],
  ['/streamed', 413],
  ['/expands', 413],
]
for (const [path, status] of unusable) {
  test(`a fetched file that is invalid gets ${status}: ${path}`, async () => {
    const { status: found, body } = await send({ audio_url: origin + path })
    assert.equal(found, status, body.message)
    assert.equal(body.validation_errors, undefined)
  })
}

test('a client that disconnects aborts the fetch and leaves no file', async () => {
  const accepted: Socket[] = []
  server.app.http.server.on('connection', (socket) => accepted.push(socket))
  const requested = once(source, 'request')
  const { hostname, port } = new URL(server.url)
  const body = JSON.stringify({ audio_url: `${origin}/waits` })
  const client = connect(Number(port), hostname)
  client.write(
    `POST /v2/upload HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const [, response] = await requested
  const left = once(response, 'close')
  const folder = `${server.folder}/objects/unfinished`
  while ((await readdir(folder)).length === 0) await sleep(10)
  assert.equal(accepted[0]?.timeout, 0, 'a fetch may last as long as its own limit says')
  client.destroy()
  await left
  while ((await readdir(folder)).length > 0) await sleep(10)
})

test('an account at its limit of fetches gets 429', async () => {
  const requested = once(source, 'request')
  const leaving = new AbortController()
  const json = { audio_url: `${origin}/waits` }
  const first = call(server, '/v2/upload', { json, signal: leaving.signal })
  const [, response] = await requested
  const left = once(response, 'close')
  const { status, headers } = await send(json)
  assert.deepEqual([status, headers.get('x-error-code')], [429, 'too_many_fetches'])
  assert.ok(Number(headers.get('retry-after')) >= 1)
  leaving.abort()
  await assert.rejects(first)
  await left
  const again = { audio_url: `${origin}/calls/Call%20No%201.wav` }
  while ((await send<unknown>(again)).status === 429) await sleep(10)
})
