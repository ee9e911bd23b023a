import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { chunksOf, synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { startServer } from '../../support/server/start-server.ts'

/** A server and the lines of its log; `told` finds the only one with that message. */
async function start(t: TestContext, speech?: SpeechEngine) {
  const { log, lines } = captureLog()
  const server = await startServer({ log, ...(speech && { speech }) })
  t.after(() => server.close())
  function reported(msg: string) {
    const [line, ...others] = lines.filter((one) => one.msg === msg)
    assert.ok(line && others.length === 0, `${msg} among ${lines.map((one) => one.msg)}`)
    return line
  }
  return { server, lines, reported }
}

test('a log line about a request has its id as requestId', async (t) => {
  const { server, lines, reported } = await start(t)
  server.app.jobs.service.submit = () => Promise.reject(new Error('broken'))
  const json = { audio_url: await upload(server, createToneWav(1)) }
  const before = lines.length
  const { status, headers } = await call(server, '/v2/pre-recorded', { json })
  assert.equal(status, 500)
  const requestId = headers.get('x-request-id')
  assert.equal(reported('request failed').requestId, requestId)
  const answered = lines.slice(before).filter(({ route }) => route === '/v2/pre-recorded')
  assert.deepEqual(
    answered.map((line) => [line.msg, line.requestId, line.status]),
    [['answered', requestId, 500]],
  )
  assert.ok(lines.every((line) => !('reqId' in line)))
})

test('a job is logged with its id from its creation', async (t) => {
  const { server, lines, reported } = await start(t)
  const json = { audio_url: await upload(server, createToneWav(6)) }
  const headers = { 'idempotency-key': 'one' }
  const created = await call<{ id: string }>(server, '/v2/pre-recorded', { json, headers })
  await call(server, '/v2/pre-recorded', { json, headers })
  await server.app.jobs.idle()
  const { jobId, requestId } = reported('job created')
  assert.deepEqual([jobId, requestId], [created.body.id, created.headers.get('x-request-id')])
  assert.equal(reported('job done').jobId, jobId)
  assert.ok(lines.filter(({ module }) => module === 'jobs').every((line) => line.jobId === jobId))
})

test('a failed job is logged with its id', async (t) => {
  const onBatch = () => Promise.reject(new Error('broken'))
  const { server, reported } = await start(t, createFakeSpeechEngine('x', { onBatch }))
  const json = { audio_url: await upload(server, createToneWav(6)) }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  assert.equal(reported('job failed').jobId, body.id)
})

test('a live session is logged with the request id of each client', async (t) => {
  const { server, lines, reported } = await start(t)
  const { id, url } = await openSession(server)
  const client = await connect(url)
  for (const chunk of chunksOf(synthesizeAudio('....##########.....'), 3200)) client.send(chunk)
  client.stop()
  await client.closed
  const late = await connect(url)
  assert.equal((await late.closed).code, 4410)
  const created = reported('live session created')
  assert.equal(created.sessionId, id)
  assert.match(String(created.requestId), /^G-[0-9a-f]{8}$/)
  const connected = reported('client connected')
  assert.equal(connected.sessionId, id)
  assert.match(String(connected.requestId), /^G-[0-9a-f]{8}$/)
  assert.equal(reported('live session ended').sessionId, id)
  const refused = reported('client refused')
  assert.equal(refused.code, 4410)
  assert.match(String(refused.requestId), /^G-[0-9a-f]{8}$/)
  assert.ok(lines.filter(({ module }) => module === 'live').every((line) => line.sessionId === id))
  const all = JSON.stringify(lines)
  for (const secret of [new URL(url).searchParams.get('token')!, server.key, 'hello']) {
    assert.ok(!all.includes(secret), secret)
  }
})

test('a disconnected client is logged', async (t) => {
  const { server, lines } = await start(t)
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.close(1000)
  await client.closed
  while (!lines.some(({ msg }) => msg === 'live session ended')) await call(server, '/health')
  const gone = lines.find(({ msg }) => msg === 'client disconnected')
  assert.deepEqual([gone?.sessionId, gone?.code], [id, 1000])
})
