import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { runHere } from '../../support/cli/run-here.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
let id: string
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('Hello there.') })
  const json = { audio_url: await upload(server, createToneWav(2)) }
  id = (await call<{ id: string }>(server, '/v2/pre-recorded', { json })).body.id
  await server.app.jobs.idle()
})
after(() => server.close())

function get<T = string>(query: string, path = '/v2/pre-recorded') {
  return call<T>(server, `${path}/${id}/transcript${query}`)
}

test("a finished job's transcript is available in every format", async () => {
  assert.deepEqual((await get('')).body, 'Hello there.\n')
  const srt = await get('?format=srt')
  assert.match(srt.body, /^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nHello there\.\n/)
  const named = srt.headers.get('content-disposition')
  assert.equal(named, 'attachment; filename="talk.srt"', 'like the recording')
  assert.match((await get('?format=vtt', '/v2/transcription')).body, /^WEBVTT\n\n/)
  const csv = await get('?format=csv')
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(
    csv.body,
    /^\uFEFF?start,end,speaker,language,text\r\n0[.\d]*,\d[.\d]*,,en,Hello there\.\r\n$/,
  )
  const docx = await get('?format=docx')
  assert.match(docx.headers.get('content-type')!, /wordprocessingml/)
  assert.match(docx.body, /^PK/)
  const { body } = await get<{ utterances: { words?: unknown[] }[] }>('?format=json&words=true')
  assert.equal(body.utterances[0]!.words!.length, 2)
})

test('a wrong format, another account or job kind is rejected', async () => {
  assert.equal((await get('?format=ass')).status, 400)
  assert.equal((await get('', '/v2/live')).status, 404)
  const headers = { 'x-service-key': OTHER_KEY }
  const other = await call<ErrorBody>(server, `/v2/pre-recorded/${id}/transcript`, { headers })
  assert.equal(other.status, 404)
})

test('steno jobs show --format prints the transcript', async () => {
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  const show = (...args: string[]) => runHere(['jobs', 'show', id, ...args], env)
  assert.equal((await show('--format', 'txt')).stdout, 'Hello there.\n')
  assert.match(
    (await show('--format', 'ass')).stderr,
    /--format must be one of: txt, srt, vtt, json, csv, docx/,
  )
})
