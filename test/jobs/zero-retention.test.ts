import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { createFakeSpeechEngine } from '../../src/asr/engines/fake.ts'
import { filesHolding } from '../support/folder-search.ts'
import { call, upload } from '../support/http-client.ts'
import { connect, openSession } from '../support/live-client.ts'
import { speech } from '../support/live-session-jobs.ts'
import { noise, waveOf } from '../support/noise.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { OTHER_KEY, startServer, type TestServer } from '../support/start-server.ts'

/** Words, metadata and sound that must leave nothing behind. */
const spoken = 'The satellite Umbriel is dark.'
const custom_metadata = { person: 'Belinda' }
const samples = noise(2, 1)
const recording = waveOf([samples])
const audio = Buffer.from(samples.slice(16_000, 16_064).buffer)
const words = [Buffer.from('Umbriel'), Buffer.from('Belinda')]

/** Answers 500 on the path `/bad`. */
let receiver: Receiver
let server: TestServer

type Gate = { came: PromiseWithResolvers<void>; go: PromiseWithResolvers<void> }
/** While it is set, batches wait at it. */
let gate: Gate | undefined
async function onBatch(_batch: unknown, signal: AbortSignal): Promise<void> {
  gate?.came.resolve()
  if (gate) await Promise.race([gate.go.promise, once(signal, 'abort')])
  signal.throwIfAborted()
}

before(async () => {
  receiver = await openReceiver(({ path }) => (path === '/bad' ? 410 : 200))
  server = await startServer({
    speech: createFakeSpeechEngine(spoken, { onBatch }),
    env: { STENO_ZERO_RETENTION: 'test', STENO_ZERO_RETENTION_WAIT_S: '1' },
  })
})
after(async () => {
  await server.close()
  await receiver.close()
})

/** Returns the files of the data folder that hold something of a job. */
function findTraces(needles = [audio, ...words]): Promise<string[]> {
  return filesHolding(server.folder, needles)
}

async function create(path?: string, key = server.key): Promise<string> {
  const of = { ...server, key }
  const callback = path && { callback: true, callback_config: { url: receiver.url + path } }
  const json = { audio_url: await upload(of, recording), custom_metadata, ...callback }
  const { status, body } = await call<{ id: string }>(of, '/v2/pre-recorded', { json })
  assert.equal(status, 201, JSON.stringify(body))
  return body.id
}

/** Creates a job, and resolves when it runs. */
async function createHeld(path?: string): Promise<{ id: string; go(): void }> {
  const held = { came: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() }
  gate = held
  const id = await create(path)
  await held.came.promise
  gate = undefined
  return { id, go: () => held.go.resolve() }
}

async function statusOf(path: string, key = server.key): Promise<number> {
  return (await call({ ...server, key }, path)).status
}

/** Resolves when the job is deleted; lists tell, since they count as no reading. */
async function untilGone(id: string): Promise<void> {
  for (;;) {
    const { body } = await call<{ items: { id: string }[] }>(server, '/v2/transcription')
    if (body.items.every((item) => item.id !== id)) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(await statusOf(`/v2/transcription/${id}`), 404)
}

test('of a job that a callback accepted no byte is left', async () => {
  const { id, go } = await createHeld('/good')
  assert.notDeepEqual(await findTraces([audio]), [], 'it would be found')
  assert.notDeepEqual(await findTraces(words), [], 'they would be found')
  go()
  await untilGone(id)
  const [received] = receiver.at('/good')
  assert.match(received!.body, /Umbriel/)
  assert.deepEqual(await findTraces(), [])
})

test('a result that was read leaves no byte', async () => {
  const { id, go } = await createHeld()
  assert.equal(await statusOf(`/v2/pre-recorded/${id}`), 200, 'a poll before the end')
  go()
  await server.app.jobs.idle()
  assert.deepEqual(await findTraces([audio]), [], 'the recording goes with the end')
  const { body } = await call(server, `/v2/pre-recorded/${id}`)
  assert.match(JSON.stringify(body), /Umbriel/)
  await untilGone(id)
  assert.deepEqual(await findTraces(), [])
})

test('a transcript that was downloaded counts as read', async () => {
  const { id, go } = await createHeld()
  go()
  await server.app.jobs.idle()
  const { body } = await call(server, `/v2/pre-recorded/${id}/transcript?format=srt`)
  assert.match(String(body), /Umbriel/)
  await untilGone(id)
})

test('the recording of a canceled job goes at once, the rest with the news of it', async () => {
  const { id } = await createHeld()
  const canceled = await call(server, `/v2/pre-recorded/${id}/cancel`, { method: 'POST' })
  assert.equal(canceled.status, 202)
  await server.app.jobs.idle()
  assert.deepEqual(await findTraces([audio]), [])
  assert.equal(await statusOf(`/v2/pre-recorded/${id}`), 200)
  await untilGone(id)
  assert.deepEqual(await findTraces(), [])
})

test('a result that its callback refused waits to be read, and goes when it has waited', async () => {
  const { id, go } = await createHeld('/bad')
  go()
  await untilGone(id)
  assert.deepEqual(await findTraces(), [])
})

test('of a session no recording is kept, and the rest goes when its client has all', async () => {
  const session = await openSession(server, {
    custom_metadata,
    messages_config: { receive_post_processing_events: true },
  })
  const client = await connect(session.url)
  client.send(speech)
  client.stop()
  const { data } = await client.waitForType('post_final_transcript')
  assert.match(JSON.stringify(data), /Umbriel/)
  assert.equal((await client.closed).code, 1000)
  await untilGone(session.id)
  assert.deepEqual(await findTraces([...words, Buffer.from(speech.subarray(20_000, 20_128))]), [])
})

test('other accounts keep their jobs', async () => {
  const id = await create('/other', OTHER_KEY)
  await server.app.jobs.idle()
  await receiver.until('/other', 1)
  for (let n = 0; n < 2; n++) {
    assert.equal(await statusOf(`/v2/pre-recorded/${id}`, OTHER_KEY), 200)
  }
  assert.equal(await statusOf(`/v2/pre-recorded/${id}/file`, OTHER_KEY), 200)
})
