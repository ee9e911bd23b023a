import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { runHere } from '../../support/cli/run-here.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

type Job = {
  status: string
  error_code: number | null
  post_session_metadata: { failure?: { code: number; reason?: string } }
}

let server: TestServer
let audioUrl: string
let begun = Promise.withResolvers<void>()
before(async () => {
  const fake = createFakeSpeechEngine('hello')
  const speech = {
    ...fake,
    /** Works until the attempt is aborted. */
    runBatch: (_: unknown, { signal }: { signal: AbortSignal }) => {
      begun.resolve()
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
    },
  }
  server = await startServer({ speech, env: { STENO_MAX_CONCURRENT_JOBS: '1' } })
  audioUrl = await upload(server, createToneWav(2))
})
after(() => server.close())

async function create(): Promise<string> {
  const json = { audio_url: audioUrl }
  return (await call<{ id: string }>(server, '/v2/pre-recorded', { json })).body.id
}

function cancel(id: string, key = server.key) {
  const headers = { 'x-service-key': key }
  const init = { method: 'POST', headers }
  return call<ErrorBody>(server, `/v2/pre-recorded/${id}/cancel`, init)
}

async function jobOf(id: string): Promise<Job> {
  return (await call<Job>(server, `/v2/pre-recorded/${id}`)).body
}

test('running and waiting jobs can be canceled, then deleted', async () => {
  begun = Promise.withResolvers()
  const [running, waiting] = [await create(), await create()]
  await begun.promise
  assert.equal((await cancel(running, OTHER_KEY)).status, 404)
  for (const id of [waiting, running]) {
    assert.equal((await cancel(id)).status, 202)
    const { status, error_code, post_session_metadata } = await jobOf(id)
    assert.deepEqual([status, error_code], ['error', 499])
    assert.equal(post_session_metadata.failure?.reason, 'cancelled')
    assert.equal((await cancel(id)).status, 422)
  }
  // The attempt has ended: nothing runs any more.
  await server.app.jobs.idle()
  const path = `/v2/pre-recorded/${running}`
  assert.equal((await call(server, path, { method: 'DELETE' })).status, 202)
})

test('canceling a job frees its slot for the next one', async () => {
  begun = Promise.withResolvers()
  const first = await create()
  await begun.promise
  begun = Promise.withResolvers()
  const second = await create()
  await cancel(first)
  await begun.promise
  assert.equal((await jobOf(second)).status, 'processing')
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  const { code, stderr } = await runHere(['jobs', 'cancel', second, first], env)
  assert.match(stderr, /Cannot cancel a job that has ended/)
  assert.deepEqual([code, (await jobOf(second)).status], [1, 'error'])
})
