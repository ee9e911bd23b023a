import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { chunksOf, synthesizeAudio } from '../support/audio/synthesize-audio.ts'
import { type ReportingServer, startReportingServer } from '../support/delivery/reporting-server.ts'
import { connect, type LiveClient, openSession } from '../support/live/clients/live-client.ts'
import { allFlags as all } from '../support/live/sessions/live-flags.ts'
import { call } from '../support/net/http-client.ts'

type Params = Record<string, unknown>
type Job = { id: string; created_at: string; status: string; result: { messages: string[] } }

let server: ReportingServer
before(async () => {
  server = await startReportingServer(() => ({ STENO_LIVE_RESUME_WINDOW_S: '1' }))
})
after(() => server.close())

const none = Object.fromEntries(Object.keys(all).map((flag) => [flag, false]))
const speech = synthesizeAudio('....##########.....########.....')

type Requested = { flags?: Params; params?: Params; chunks?: readonly Uint8Array[] }

/**
 * Runs a session that calls back at a path of the receiver, and waits until all went out that is
 * due.
 */
async function run(
  path: string,
  { flags = all, params = {}, chunks = chunksOf(speech, 3200) }: Requested = {},
): Promise<{ client: LiveClient; job: Job }> {
  const { id, url } = await openSession(server, { ...calling(path, flags), ...params })
  const client = await connect(url)
  for (const chunk of chunks) client.send(chunk)
  client.stop()
  await client.closed
  await server.skip(0)
  return { client, job: await findJob(id) }
}

function calling(path: string, flags: Params): Params {
  const callback_config = { url: server.receiver.url + path, ...flags }
  return { callback: true, callback_config }
}

async function findJob(id: string): Promise<Job> {
  return (await call<Job>(server, `/v2/live/${id}`)).body
}

function bodiesAt(path: string): string[] {
  return server.receiver.at(path).map(({ body }) => body)
}

/** What a callback is sent of messages, as the API reference says. */
function callbacksOf({ id }: { id: string }, texts: readonly string[]): string[] {
  return texts.map((text) => {
    const { type } = JSON.parse(text) as { type: string }
    return `{"id":"${id}","event":"live.${type}","payload":${text}}`
  })
}

function typesOf(bodies: readonly string[]): string[] {
  return bodies.map((body) => (JSON.parse(body) as { payload: { type: string } }).payload.type)
}

test('a callback gets all messages of its session in order, as in the result', async () => {
  const path = '/all'
  const { id, url } = await openSession(server, {
    ...calling(path, all),
    messages_config: all,
    realtime_processing: { sentiment_analysis: true },
    post_processing: { summarization: true },
  })
  const client = await connect(url)
  client.sendJson({ type: 'nonsense' })
  client.sendJson({ type: 'audio_chunk', data: { chunk: '%' } })
  for (const chunk of chunksOf(speech, 3200)) client.send(chunk)
  client.stop()
  client.stop()
  await client.closed
  await server.skip(0)
  const job = await findJob(id)
  const { messages } = job.result
  assert.deepEqual(bodiesAt(path), callbacksOf(job, messages))
  assert.deepEqual(messages.slice(1), client.texts, 'the client hears all but the first')
  assert.deepEqual(JSON.parse(messages[0]!), {
    type: 'start_session',
    session_id: id,
    created_at: job.created_at,
  })
  const types = new Set(typesOf(bodiesAt(path)))
  for (const type of [
    ...['start_session', 'start_recording', 'audio_chunk', 'stop_recording', 'error'],
    ...['speech_start', 'speech_end', 'transcript', 'sentiment_analysis', 'end_recording'],
    ...['post_transcript', 'post_summarization', 'post_final_transcript', 'end_session'],
  ]) {
    assert.ok(types.has(type), type)
  }
  const ids = server.receiver.at(path).map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(ids).size, messages.length, 'once each')
})

test('a callback gets messages while the session runs', async () => {
  const { url } = await openSession(server, calling('/early', all))
  const client = await connect(url)
  client.send(speech)
  while (!typesOf(bodiesAt('/early')).includes('transcript')) await delay(5)
  assert.ok(!typesOf(bodiesAt('/early')).includes('end_recording'))
  client.stop()
  await client.closed
})

test("callback messages do not depend on the socket's flags", async () => {
  const flags = { ...none, receive_speech_events: true, receive_acknowledgments: true }
  const { client, job } = await run('/some', {
    flags,
    params: { messages_config: { ...none, receive_final_transcripts: true } },
  })
  assert.deepEqual(new Set(client.messages.map(({ type }) => type)), new Set(['transcript']))
  const types = typesOf(bodiesAt('/some'))
  const expected = ['audio_chunk', 'speech_end', 'speech_start', 'stop_recording']
  assert.deepEqual([...new Set(types)].sort(), expected)
  const inResult = job.result.messages.filter((text) => !text.includes('"type":"transcript"'))
  assert.deepEqual(bodiesAt('/some'), callbacksOf(job, inResult))
})

test('by default a callback gets finals, post-processing and lifecycle events', async () => {
  await run('/default', { flags: {} })
  assert.deepEqual(typesOf(bodiesAt('/default')), [
    ...['start_session', 'start_recording', 'transcript', 'transcript', 'end_recording'],
    ...['post_transcript', 'post_final_transcript', 'end_session'],
  ])
})

test('a callback gets the rest of a session after its client disconnected', async () => {
  const { id, url } = await openSession(server, {
    ...calling('/gone', all),
    messages_config: none,
  })
  const client = await connect(url)
  for (const chunk of chunksOf(speech, 3200)) client.send(chunk)
  client.close(1001)
  await client.closed
  while ((await findJob(id)).status !== 'done') await delay(20)
  await server.skip(0)
  const job = await findJob(id)
  assert.deepEqual(bodiesAt('/gone'), callbacksOf(job, job.result.messages))
  assert.equal(typesOf(bodiesAt('/gone')).at(-1), 'end_session')
})

test('a callback gets the end of a session without a client', async (t) => {
  const impatient = await startReportingServer(() => ({ STENO_LIVE_CONNECT_TIMEOUT_S: '1' }))
  t.after(() => impatient.close())
  const callback_config = { url: `${impatient.receiver.url}/nobody` }
  const { id } = await openSession(impatient, { callback: true, callback_config })
  const path = `/v2/live/${id}`
  while ((await call<Job>(impatient, path)).body.status !== 'error') await delay(20)
  await impatient.skip(0)
  const bodies = impatient.receiver.at('/nobody').map(({ body }) => body)
  assert.deepEqual(typesOf(bodies), ['start_session', 'end_session'])
})

test('a disabled callback, or one without flags, sends nothing', async () => {
  await run('/off', { params: { callback: false } })
  await run('/nothing', { flags: none })
  assert.deepEqual([...bodiesAt('/off'), ...bodiesAt('/nothing')], [])
})

test('a receiver that was down gets all messages in order', async () => {
  server.answers.set('/down', () => 503)
  const { job } = await run('/down')
  // One after the other: whatever was sent again by now, it is the first.
  const refused = typesOf(bodiesAt('/down'))
  assert.deepEqual(new Set(refused), new Set(['start_session']))
  server.answers.set('/down', () => 200)
  await server.skip(10_000)
  const bodies = bodiesAt('/down').slice(refused.length)
  assert.deepEqual(bodies, callbacksOf(job, job.result.messages))
})
