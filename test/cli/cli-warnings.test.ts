import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { runHere } from '../support/cli/run-here.ts'
import { SAMPLE } from '../support/cli/run-steno.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'

const SPEECH = join(import.meta.dirname, '../fixtures/speech.wav')
const UNSURE = 'warning: The recognizer was unsure of most words (mean confidence 0.20).'

let server: TestServer
let env: Record<string, string>

before(async () => {
  const speech = createFakeSpeechEngine('guten Tag', { confidence: 0.2 })
  server = await startServer({ speech })
  env = { STENO_URL: server.url, STENO_KEY: server.key }
})

after(() => server.close())

test('transcribe prints the warnings of a recording, and jobs counts them', async () => {
  const { code, stdout, stderr } = await runHere(['transcribe', SAMPLE], env)
  assert.match(stdout, /^guten Tag/)
  assert.ok(stderr.includes(`jfk.flac: ${UNSURE}`), stderr)
  assert.equal(code, 0)
  const list = await runHere(['jobs'], env)
  assert.match(list.stdout, / {2}jfk\.flac {2}\(1 warning\)\n$/)
})

test('live prints the warnings of a session', async () => {
  const { code, stderr } = await runHere(['live', SPEECH, '--fast'], env)
  assert.ok(stderr.includes(`speech.wav: ${UNSURE}`), stderr)
  assert.equal(code, 0)
})

test('live exits with code 1 if an add-on failed', async () => {
  const { code, stderr } = await runHere(['live', SPEECH, '--fast', '--ask', 'Who?'], env)
  assert.match(stderr, /speech\.wav: audio_to_llm.*STENO_LLM_URL/)
  assert.equal(code, 1)
})
