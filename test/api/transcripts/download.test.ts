import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

const recording = createToneWav(2)
const size = recording.length

let server: TestServer
let path: string

before(async () => {
  server = await startServer()
  const audio_url = await upload(server, recording)
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json: { audio_url } })
  path = `/v2/pre-recorded/${body.id}/file`
})
after(() => server.close())

function get(headers: Record<string, string> = {}, method = 'GET') {
  return fetch(server.url + path, { method, headers: { 'x-service-key': server.key, ...headers } })
}

test('the audio of a job downloads unchanged as an attachment', async () => {
  const response = await get()
  assert.equal(response.status, 200)
  assert.deepEqual(new Uint8Array(await response.arrayBuffer()), recording)
  const { headers } = response
  assert.equal(headers.get('content-type'), 'application/octet-stream')
  assert.equal(headers.get('content-length'), String(size))
  assert.equal(headers.get('content-disposition'), 'attachment; filename="talk.wav"')
  assert.equal(headers.get('accept-ranges'), 'bytes')
})

test('HEAD of a download has its headers without the bytes', async () => {
  const response = await get({}, 'HEAD')
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-length'), String(size))
  assert.equal((await response.arrayBuffer()).byteLength, 0)
  const ranged = await get({ range: 'bytes=0-3' }, 'HEAD')
  assert.deepEqual([ranged.status, ranged.headers.get('content-length')], [200, String(size)])
})

test('an upload is known under every host name, and only to its account', async () => {
  const audio_url = await upload(server, recording)
  const elsewhere = audio_url.replace('127.0.0.1', 'stt.example')
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', {
    json: { audio_url: elsewhere },
  })
  await server.app.jobs.idle()
  const { status } = await call(server, `/v2/pre-recorded/${body.id}/file`)
  assert.equal(status, 200)
  const foreign = await call<{ id: string }>({ ...server, key: OTHER_KEY }, '/v2/pre-recorded', {
    json: { audio_url: elsewhere },
  })
  await server.app.jobs.idle()
  const job = await call<{ error_code: number }>(
    { ...server, key: OTHER_KEY },
    `/v2/pre-recorded/${foreign.body.id}`,
  )
  assert.equal(job.body.error_code, 502, 'to another account it is an address like any other')
})

for (const [range, start, end] of [
  ['bytes=0-3', 0, 3],
  ['bytes=44-', 44, size - 1],
  ['bytes=-10', size - 10, size - 1],
  [`bytes=${size - 1}-${size + 100}`, size - 1, size - 1],
] as const) {
  test(`Range ${range} returns exactly these bytes`, async () => {
    const response = await get({ range })
    assert.equal(response.status, 206)
    assert.equal(response.headers.get('content-range'), `bytes ${start}-${end}/${size}`)
    assert.equal(response.headers.get('content-length'), String(end - start + 1))
    const bytes = new Uint8Array(await response.arrayBuffer())
    assert.deepEqual(bytes, recording.slice(start, end + 1))
  })
}

test('a range beyond the end gets 416 with the size', async () => {
  const response = await get({ range: `bytes=${size}-` })
  assert.equal(response.status, 416)
  assert.equal(response.headers.get('content-range'), `bytes */${size}`)
  assert.equal(((await response.json()) as ErrorBody).statusCode, 416)
})

test('multiple ranges, other units and conditions return the whole file', async () => {
  for (const headers of [
    { range: 'bytes=0-1,3-4' },
    { range: 'lines=1-2' },
    { range: 'bytes=5-2' },
    { range: 'bytes=0-3', 'if-range': '"x"' },
  ]) {
    const response = await get(headers as Record<string, string>)
    assert.equal(response.status, 200)
    assert.equal((await response.arrayBuffer()).byteLength, size)
  }
})

test('an aborted download does not affect other requests', async () => {
  const response = await get()
  await response.body?.cancel()
  assert.equal((await get({ range: 'bytes=0-0' })).status, 206)
})

test('audio missing from the disk gets 404', async () => {
  const audioUrl = await upload(server, createToneWav(0.5))
  await server.app.storage.objects.delete(audioUrl.split('/').at(-1)!)
  for (const method of ['GET', 'HEAD']) {
    const headers = { 'x-service-key': server.key }
    const response = await fetch(audioUrl, { method, headers })
    assert.equal(response.status, 404)
    assert.equal(response.headers.get('content-disposition'), null)
  }
})

test('a job whose audio was never fetched has no file', async () => {
  const json = { audio_url: `${server.url}/nowhere.mp3` }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  const response = await call<ErrorBody>(server, `/v2/pre-recorded/${body.id}/file`)
  assert.equal(response.status, 404)
})
