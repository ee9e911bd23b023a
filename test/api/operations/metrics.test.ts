import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '../../../src/app/app.ts'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog, type Log } from '../../../src/observability/log.ts'
import { createMetrics } from '../../../src/observability/metrics.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { chunksOf, synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { makeOverdue } from '../../support/jobs/test-jobs.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { finalsOf } from '../../support/live/clients/live-messages.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { parseMetrics } from '../../support/net/prometheus.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { sharedParts } from '../../support/server/shared-parts.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

type Options = { speech?: SpeechEngine; log?: Log; env?: Record<string, string> }

/**
 * A server, and what reads one value of its metrics; the value is undefined when it is not there.
 */
async function start(t: TestContext, options: Options = {}) {
  const server = await startServer(options)
  t.after(() => server.close())
  async function read() {
    const { body } = await call<string>(server, '/metrics')
    const families = parseMetrics(body)
    return (name: string, labels: Record<string, string> = {}) => {
      const samples = [...families.values()].flatMap((family) => family.samples)
      const found = samples.find((sample) => {
        const wanted = Object.entries(labels)
        return sample.name === name && wanted.every(([key, label]) => sample.labels[key] === label)
      })
      return found?.value
    }
  }
  return { server, read }
}

async function submit(server: TestServer): Promise<string> {
  const json = { audio_url: await upload(server, createToneWav(6)) }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201)
  return body.id
}

const recorded = { kind: 'pre-recorded' }

test('a finished job updates the metrics of outcome, waiting time and speed', async (t) => {
  const { server, read } = await start(t)
  const before = await read()
  assert.equal(before('steno_jobs_ended_total', { ...recorded, outcome: 'done' }), 0)
  await submit(server)
  await server.app.jobs.idle()
  const after = await read()
  assert.equal(after('steno_jobs_ended_total', { ...recorded, outcome: 'done' }), 1)
  assert.equal(after('steno_jobs_ended_total', { ...recorded, outcome: 'server_error' }), 0)
  assert.equal(after('steno_audio_seconds_total', recorded), 6)
  assert.equal(after('steno_job_queue_seconds_count'), 1)
  assert.equal(after('steno_job_seconds_count'), 1)
  assert.equal(after('steno_job_real_time_factor_count'), 1)
  const factor = after('steno_job_real_time_factor_sum')!
  const seconds = after('steno_job_seconds_sum')!
  assert.ok(factor > 0 && factor <= seconds / 6, `${factor} of ${seconds} s`)
  assert.ok(after('steno_job_queue_seconds_sum')! < 60, 'milliseconds are not taken for seconds')
})

test('a slow source counts for its stage and not as processing', async (t) => {
  const { server, read } = await start(t)
  const recording = createToneWav(6)
  const requested = Promise.withResolvers<ServerResponse>()
  const source = createServer((_request, response) => requested.resolve(response))
  source.listen(0, '127.0.0.1')
  t.after(() => source.close())
  await once(source, 'listening')
  const { port } = source.address() as AddressInfo
  const json = { audio_url: `http://127.0.0.1:${port}/talk.wav` }
  assert.equal((await call(server, '/v2/pre-recorded', { json })).status, 201)
  const response = await requested.promise
  const since = performance.now()
  for (let i = 0; i < 20; i++) {
    assert.equal((await read())('steno_jobs_in_stage', { stage: 'fetch' }), 1)
  }
  const held = (performance.now() - since) / 1000
  response.setHeader('content-length', recording.length)
  response.end(recording)
  await server.app.jobs.idle()
  const value = await read()
  const work = value('steno_job_real_time_factor_sum')! * 6
  assert.ok(work + held <= value('steno_job_seconds_sum')!)
})

test('a failed job counts as a client or server error and not as recognized audio', async (t) => {
  const speech = createFakeSpeechEngine('x', { onBatch: () => Promise.reject(new Error('broken')) })
  const { server, read } = await start(t, { speech })
  await submit(server)
  const gone = { audio_url: `${server.url}/v2/nowhere.wav` }
  assert.equal((await call(server, '/v2/pre-recorded', { json: gone })).status, 201)
  await server.app.jobs.idle()
  const value = await read()
  assert.equal(value('steno_jobs_ended_total', { ...recorded, outcome: 'server_error' }), 1)
  assert.equal(value('steno_jobs_ended_total', { ...recorded, outcome: 'client_error' }), 1)
  assert.equal(value('steno_audio_seconds_total', recorded), 0)
  assert.equal(value('steno_job_real_time_factor_count'), 0)
})

test('a job that exceeded its queue timeout counts as ended', async (t) => {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const onBatch = () => {
    begun.resolve()
    return held.promise
  }
  const speech = { ...createFakeSpeechEngine('x', { onBatch }), workers: 1 }
  const env = { STENO_QUEUE_TIMEOUT_S: '600', STENO_MAX_CONCURRENT_JOBS: '1' }
  const { log, lines } = captureLog()
  const { server, read } = await start(t, { speech, env, log })
  await submit(server)
  await begun.promise
  const id = await submit(server)
  await makeOverdue(server.app.storage.db, id, 600)
  await submit(server)
  while ((await read())('steno_jobs_ended_total', { outcome: 'server_error' }) === 0);
  held.resolve()
  const reported = lines.filter(({ msg }) => msg === 'job failed')
  assert.deepEqual(
    reported.map(({ jobId, code }) => [jobId, code]),
    [[id, 503]],
  )
})

test('unfinished jobs are counted by state and stage', async (t) => {
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const onBatch = () => {
    begun.resolve()
    return held.promise
  }
  const env = { STENO_MAX_CONCURRENT_JOBS: '1' }
  const { server, read } = await start(t, { speech: createFakeSpeechEngine('x', { onBatch }), env })
  for (let i = 0; i < 3; i++) await submit(server)
  await begun.promise
  const during = await read()
  assert.equal(during('steno_jobs', { ...recorded, state: 'processing' }), 1)
  assert.equal(during('steno_jobs', { ...recorded, state: 'queued' }), 2)
  assert.equal(during('steno_jobs', { kind: 'live', state: 'queued' }), 0)
  assert.equal(during('steno_jobs_in_stage', { stage: 'recognize' }), 1)
  assert.equal(during('steno_jobs_in_stage', { stage: 'decode' }), 0)
  held.resolve()
  await server.app.jobs.idle()
  const after = await read()
  assert.equal(after('steno_jobs', { ...recorded, state: 'processing' }), 0)
  assert.equal(after('steno_jobs', { ...recorded, state: 'queued' }), 0)
  assert.equal(after('steno_jobs_in_stage', { stage: 'recognize' }), 0)
})

test('a live session updates the metrics of state and latency', async (t) => {
  const { server, read } = await start(t)
  const { url } = await openSession(server, {
    messages_config: { receive_partial_transcripts: true },
  })
  assert.equal((await read())('steno_live_sessions', { state: 'new' }), 1)
  const first = await connect(url)
  const connected = await read()
  assert.equal(connected('steno_live_sessions', { state: 'new' }), 0)
  assert.equal(connected('steno_live_sessions', { state: 'connected' }), 1)
  first.terminate()
  while ((await read())('steno_live_sessions', { state: 'disconnected' }) !== 1);
  const client = await connect(url)
  const chunks = chunksOf(synthesizeAudio('....##########.....########.....'), 3200)
  for (const chunk of chunks) client.send(chunk)
  client.stop()
  await client.closed
  const finals = finalsOf(client.messages).length
  assert.ok(finals >= 2)
  const partials = client.messages.filter((message) => {
    return message.type === 'transcript' && !message.data.is_final
  })
  while ((await read())('steno_live_sessions', { state: 'disconnected' }) !== 0);
  const value = await read()
  assert.equal(value('steno_live_ack_seconds_count'), chunks.length)
  assert.equal(value('steno_live_final_seconds_count'), finals)
  assert.equal(value('steno_live_partial_seconds_count'), partials.length)
  for (const name of ['ack', 'final']) {
    const sum = value(`steno_live_${name}_seconds_sum`)!
    assert.ok(sum > 0 && sum < 60, `${name} ${sum}`)
  }
  assert.equal(value('steno_jobs_ended_total', { kind: 'live', outcome: 'done' }), 1)
  assert.equal(value('steno_audio_seconds_total', { kind: 'live' }), 3.2)
})

test('a session without a client counts as a client error', async (t) => {
  const { server, read } = await start(t, { env: { STENO_LIVE_CONNECT_TIMEOUT_S: '1' } })
  await openSession(server)
  const ended = { kind: 'live', outcome: 'client_error' }
  while ((await read())('steno_jobs_ended_total', ended) === 0);
  assert.equal((await read())('steno_live_sessions', { state: 'new' }), 0)
})

test('a failed session counts as a server error', async (t) => {
  const onLive = () => Promise.reject(new Error('broken'))
  const { server, read } = await start(t, { speech: createFakeSpeechEngine('x', { onLive }) })
  const { url } = await openSession(server)
  const client = await connect(url)
  client.send(synthesizeAudio('####'))
  assert.equal((await client.closed).code, 4500)
  const value = await read()
  assert.equal(value('steno_jobs_ended_total', { kind: 'live', outcome: 'server_error' }), 1)
  assert.equal(value('steno_jobs_ended_total', { kind: 'live', outcome: 'done' }), 0)
})

test('a session of a server without a live engine counts as ended', async (t) => {
  const folder = await makeFolder(t)
  const config = readConfig({ STENO_DATA_DIR: folder, STENO_API_KEYS: 'test:test-key' })
  const log = createLog('silent')
  const speech = createFakeSpeechEngine('x')
  const first = await createApp(config, { log, speech, ...sharedParts() })
  const url = await first.http.listen({ host: '127.0.0.1', port: 0 })
  const session = await openSession({ url, key: 'test-key' })
  await connect(session.url)
  await first.close()
  const deaf = { ...speech, live: undefined }
  const second = await createApp(config, { log, speech: deaf, ...sharedParts() })
  t.after(() => second.close())
  const ended = async () => {
    const { values } = await second.metrics.jobsEnded.get()
    return values.filter(({ value }) => value > 0).map(({ labels, value }) => ({ labels, value }))
  }
  while ((await ended()).length === 0) await delay(5)
  assert.deepEqual(await ended(), [{ labels: { kind: 'live', outcome: 'server_error' }, value: 1 }])
})

test('pending deliveries and disabled receivers are counted by kind', async (t) => {
  const { server, read } = await start(t)
  const { sql } = server.app.storage.db
  const delivery = (state: 'waiting' | 'failed', seq: number) => ({
    id: randomUUID(),
    account: 'test',
    job_id: 'job',
    endpoint_id: 'ep_1',
    seq,
    kind: 'webhook' as const,
    event: 'transcription.success',
    method: 'POST' as const,
    url: 'http://127.0.0.1:1/',
    body: '{}',
    body_object: null,
    state,
    created_at: 1,
    next_at: null,
  })
  const rows = [delivery('waiting', 1), delivery('waiting', 2), delivery('failed', 3)]
  await sql.insertInto('deliveries').values(rows).execute()
  const endpoint = {
    id: 'ep_1',
    account: 'test',
    kind: 'webhook' as const,
    url: 'http://127.0.0.1:1/',
    events: null,
    source: 'cli' as const,
    name: null,
    created_at: 1,
  }
  await sql
    .insertInto('endpoints')
    .values([
      { ...endpoint, disabled_at: 5 },
      { ...endpoint, id: 'ep_2' },
    ])
    .execute()
  const value = await read()
  assert.equal(value('steno_deliveries_pending', { kind: 'webhook' }), 2)
  assert.equal(value('steno_deliveries_pending', { kind: 'live' }), 0)
  assert.equal(value('steno_endpoints_disabled', { kind: 'webhook' }), 1)
  assert.equal(value('steno_endpoints_disabled', { kind: 'callback' }), 0)
  await sql.deleteFrom('deliveries').execute()
  assert.equal((await read())('steno_deliveries_pending', { kind: 'webhook' }), 0)
})

test('requests are timed by route pattern, and paths are not exposed', async (t) => {
  const { server, read } = await start(t)
  const id = randomUUID()
  await call(server, `/v2/pre-recorded/${id}?secret=1`)
  await call(server, '/v2/no-such-path/of-mine')
  const value = await read()
  const name = 'steno_http_request_seconds_count'
  const route = '/v2/pre-recorded/:id'
  assert.equal(value(name, { method: 'GET', route, status: '404' }), 1)
  assert.equal(value(name, { method: 'GET', route: 'unknown', status: '404' }), 1)
  const { body } = await call<string>(server, '/metrics')
  for (const reported of [id, 'secret', 'of-mine', 'test-key', 'account']) {
    assert.ok(!body.includes(reported), reported)
  }
})

test('every metric is a number on repeated scrapes', async (t) => {
  const { server } = await start(t)
  for (let i = 0; i < 3; i++) {
    const { body, headers } = await call<string>(server, '/metrics')
    assert.match(headers.get('content-type')!, /^text\/plain; version=0\.0\.4/)
    assert.equal(headers.get('cache-control'), 'no-store')
    const families = parseMetrics(body)
    assert.ok(families.has('process_resident_memory_bytes'))
    assert.ok(families.has('nodejs_eventloop_lag_p99_seconds'))
  }
})

test('with STENO_METRICS_TOKEN metrics require the token', async (t) => {
  const { server } = await start(t, { env: { STENO_METRICS_TOKEN: 'let me in' } })
  const request = (authorization?: string) => {
    return call<ErrorBody>(server, '/metrics', authorization ? { headers: { authorization } } : {})
  }
  for (const wrong of [undefined, 'Bearer let me', 'Bearer ', 'Basic let me in', 'let me in']) {
    const { status, body } = await request(wrong)
    assert.equal(status, 401, wrong)
    assert.equal(body.statusCode, 401)
    assert.ok(!JSON.stringify(body).includes('let me'), 'what was given is not repeated')
  }
  assert.equal((await request('Bearer let me in')).status, 200)
  assert.equal((await request('bearer let me in')).status, 200)
})

test('docs/monitoring.md lists every metric and no other', async () => {
  const page = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/^\| `(steno_\w+)`/gm)].map(([, name]) => name!)
  const metrics = await createMetrics().registry.getMetricsAsJSON()
  assert.deepEqual(listed.sort(), metrics.map(({ name }) => name).sort())
})
