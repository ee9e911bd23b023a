import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../support/audio/recordings.ts'
import { runHere } from '../support/cli/run-here.ts'
import { failAddOns } from '../support/jobs/failed-add-ons.ts'
import { call, upload } from '../support/net/http-client.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'

let server: TestServer
let id: string
before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine('One. Two.') })
  const requested = { sentences: true, subtitles: true, structured_data_extraction: true }
  const json = { audio_url: await upload(server, createToneWav(2)), ...requested }
  id = (await call<{ id: string }>(server, '/v2/pre-recorded', { json })).body.id
  await server.app.jobs.idle()
  await failAddOns(server, { id, names: ['sentences', 'subtitles'] })
})
after(() => server.close())

function retry(...args: string[]) {
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  return runHere(['jobs', 'retry', ...args], env)
}

test('steno jobs retry prints the new result', async () => {
  const { code, stdout } = await retry(id, 'sentences')
  assert.deepEqual([JSON.parse(stdout).results, code], [['One.', 'Two.'], 0])
  const subtitles = await retry(id, 'subtitles')
  assert.deepEqual([JSON.parse(subtitles.stdout)[0].format, subtitles.code], ['srt', 0])
})

test('steno jobs retry exits with 1 if it failed again or was rejected', async () => {
  const again = await retry(id, 'structured_data_extraction')
  assert.deepEqual([JSON.parse(again.stdout).success, again.code], [false, 1])
  const refused = await retry(id, 'diarization')
  assert.match(refused.stderr, /^steno jobs: Cannot retry this add-on: diarization/)
  assert.deepEqual([refused.stdout, refused.code], ['', 1])
  assert.equal((await retry(id)).code, 2)
})
