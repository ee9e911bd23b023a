import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_IGNORED_BYTES } from '../../../src/api/bodies/receiving/multipart/audio-part.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import {
  audioForm,
  call,
  type ErrorBody,
  type Response,
  sendRaw,
  type Uploaded,
} from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

const recording = createToneWav(1.5, 2)
const MAX_BYTES = 2_000_000

let server: TestServer

before(async () => {
  server = await startServer({ env: { STENO_MAX_FILE_BYTES: String(MAX_BYTES) } })
})
after(async () => {
  const stored = await server.app.storage.db.sql.selectFrom('files').select('id').execute()
  const known = new Set(stored.map(({ id }) => id))
  for await (const ids of server.app.storage.objects.list()) {
    for (const id of ids) assert.ok(known.has(id), 'no refused upload leaves an object behind')
  }
  await server.close()
})

function send<T = ErrorBody>(body: FormData) {
  return call<T>(server, '/v2/upload', { body })
}

/** One part of a form, as text. */
function part(disposition: string, content: string | Uint8Array, type = 'text/plain'): Buffer {
  const head = `--b\r\ncontent-disposition: form-data; ${disposition}\r\ncontent-type: ${type}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(content as Uint8Array), Buffer.from('\r\n')])
}

function sendParts<T = ErrorBody>(parts: Buffer[], end = '--b--\r\n') {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const body = new Uint8Array(Buffer.concat([...parts, Buffer.from(end)]))
  return call<T>(server, '/v2/upload', { method: 'POST', headers, body })
}

const audio = part('name="audio"; filename="a.wav"', recording, 'application/octet-stream')

test('an upload returns its URL and metadata, and downloads byte for byte', async () => {
  const { status, body } = await send<Uploaded>(audioForm(recording, 'Gespräch 1.WAV'))
  assert.equal(status, 200)
  const { id, ...metadata } = body.audio_metadata
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.equal(body.audio_url, `${server.url}/file/${id}`)
  assert.deepEqual(metadata, {
    filename: 'Gespräch 1.WAV',
    extension: 'wav',
    size: recording.length,
    audio_duration: 1.5,
    number_of_channels: 2,
  })
  const headers = { 'x-service-key': server.key }
  const file = await fetch(body.audio_url, { headers })
  assert.equal(file.headers.get('content-type'), 'audio/wav')
  assert.equal(file.headers.get('x-content-type-options'), 'nosniff')
  assert.match(
    file.headers.get('content-disposition') ?? '',
    /^attachment; .*Gespr%C3%A4ch%201.WAV$/,
  )
  assert.deepEqual(new Uint8Array(await file.arrayBuffer()), recording)
  assert.equal((await call({ ...server, key: OTHER_KEY }, body.audio_url)).status, 404)
})

test('other parts of a form are ignored, in any position', async () => {
  const before = [
    part('name="audio_url"', 'x'),
    part('name="f"; filename="x"', 'y'.repeat(3_000_000)),
  ]
  for (let i = 0; i < 400; i++) before.push(part('name="x"', 'y'))
  const after = [part('name="meta"', '{not json', 'application/json'), part('name="AUDIO"', 'z')]
  const { status } = await sendParts([...before, audio, ...after])
  assert.equal(status, 200)
})

test('a part without a file name is accepted as an upload', async () => {
  const { status, body } = await sendParts<Uploaded>([part('name="audio"', recording)])
  assert.equal(status, 200)
  assert.equal(body.audio_metadata.filename, `${body.audio_metadata.id}.wav`)
})

test('folders and control characters are removed from a file name', async () => {
  const name = 'name="audio"; filename="../../etc/C:\\\\x\u0001\u007f y.wav"'
  const { body } = await sendParts<Uploaded>([part(name, recording)])
  assert.equal(body.audio_metadata.filename, 'x y.wav')
})

test('quotes escaped by browsers and curl are restored in a file name', async () => {
  const name = 'name="audio"; filename="%22Q&A%22%0D%0A 5%25.wav"'
  const { body } = await sendParts<Uploaded>([part(name, recording)])
  assert.equal(body.audio_metadata.filename, '"Q&A" 5%25.wav')
})

const refused: [title: string, request: () => Promise<Response<ErrorBody>>, status: number][] = [
  ['has no part audio', () => sendParts([part('name="file"; filename="a"', recording)]), 400],
  ['has no part at all', () => sendParts([]), 400],
  ['is empty', () => sendParts([], ''), 400],
  ['has two parts audio', () => sendParts([audio, audio]), 400],
  ['has an empty file', () => sendParts([part('name="audio"; filename="a.wav"', '')]), 400],
  ['ends within the file', () => sendParts([audio.subarray(0, -100)], ''), 400],
  ['ends after the file', () => sendParts([audio], ''), 400],
  ['ends within a later part', () => sendParts([audio, part('name="x"', 'y')], ''), 400],
  ['has parts of prototype names', () => sendParts([part('name="__proto__"', 'x'), audio]), 400],
  ['has too many parts', () => sendParts(Array(501).fill(part('name="x"', 'y'))), 413],
  [
    'has megabytes beside the file',
    () => sendParts([part('name="x"', 'y'.repeat(MAX_IGNORED_BYTES + 1)), audio]),
    413,
  ],
  ['holds a page', () => send(audioForm(new Uint8Array(Buffer.from('<html>no</html>')))), 415],
  ['holds noise', () => send(audioForm(new Uint8Array(5000).map((_, i) => (i * 7919) % 251))), 415],
  ['holds half a header', () => send(audioForm(recording.slice(0, 20))), 415],
  ['is too large', () => send(audioForm(new Uint8Array(MAX_BYTES + 1))), 413],
  ['is far too large', () => send(audioForm(new Uint8Array(30_000_000))), 413],
]

for (const [title, request, status] of refused) {
  test(`a form that ${title} gets ${status}`, async () => {
    const { status: found, body } = await request()
    assert.equal(found, status, body.message)
    assert.equal(body.path, '/v2/upload')
    assert.equal(body.statusCode, status)
  })
}

test('a body announced as too large is rejected before it is received', async () => {
  const ask = (path: string, type: string, bytes: number) =>
    sendRaw(
      server,
      `POST ${path} HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\nconnection: close\r\n` +
        `content-type: ${type}\r\ncontent-length: ${bytes}\r\n\r\n{`,
    )
  const form = await ask('/v2/upload', 'multipart/form-data; boundary=b', 1e11)
  assert.match(form, /^HTTP\/1\.1 413 [\s\S]*"message":"Cannot accept media of this size/)
  const json = await ask('/v2/pre-recorded', 'application/json', 1_048_577)
  assert.match(json, /^HTTP\/1\.1 413 [\s\S]*"message":"Cannot accept a body of this size/)
})

test('a form without a boundary gets 400, another content type 415', async () => {
  const headers = { 'content-type': 'multipart/form-data' }
  const none = await call(server, '/v2/upload', { method: 'POST', headers, body: 'x' })
  assert.equal(none.status, 400)
  for (const type of ['application/octet-stream', 'audio/wav', 'multipart/mixed; boundary=b']) {
    const response = await call(server, '/v2/upload', {
      method: 'POST',
      headers: { 'content-type': type },
      body: recording,
    })
    assert.equal(response.status, 415, type)
  }
  assert.equal((await call(server, '/v2/upload', { method: 'POST' })).status, 415)
})

test('a 413 reaches a client that reads only after writing the upload', async () => {
  const size = 20_000_000
  const head = `--b\r\ncontent-disposition: form-data; name="audio"; filename="a"\r\n\r\n`
  const tail = '\r\n--b--\r\n'
  const response = await sendRaw(
    server,
    `POST /v2/upload HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\nconnection: close\r\n` +
      `content-type: multipart/form-data; boundary=b\r\ncontent-length: ${head.length + size + tail.length}\r\n\r\n` +
      `${head}${'x'.repeat(size)}${tail}`,
  )
  assert.match(response, /^HTTP\/1\.1 413 /)
})

test('an interrupted upload leaves no file', async () => {
  const { hostname, port } = new URL(server.url)
  const count = () => server.app.storage.db.sql.selectFrom('files').select('id').execute()
  const earlier = (await count()).length
  for (const ending of ['destroy', 'end'] as const) {
    const closed = Promise.withResolvers<void>()
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {}).on('close', () => closed.resolve())
    const head = `POST /v2/upload HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\ncontent-length: 1000000\r\n`
    socket.write(`${head}content-type: multipart/form-data; boundary=b\r\n\r\n`)
    socket.write(audio, () => {
      socket[ending]()
      socket.resume()
    })
    await closed.promise
  }
  const folder = `${server.folder}/objects/unfinished`
  while ((await readdir(folder)).length > 0) await sleep(10)
  assert.equal((await count()).length, earlier)
})

test('ten concurrent uploads all succeed', async () => {
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, i) => send<Uploaded>(audioForm(createToneWav(0.5 + i / 10)))),
  )
  const durations = responses.map(({ body }) => body.audio_metadata.audio_duration)
  assert.deepEqual(durations, [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4])
})

test('a compressed recording reports its container', async () => {
  const bytes = new Uint8Array(await readFile(new URL('../../fixtures/jfk.flac', import.meta.url)))
  const { body } = await send<Uploaded>(audioForm(bytes, 'speech'))
  assert.deepEqual(
    [body.audio_metadata.extension, body.audio_metadata.filename],
    ['flac', 'speech'],
  )
})
