import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { registerHooks } from 'node:module'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { startPrivateServer } from '../../../src/cli/server/private-server.ts'
import { createTracing } from '../../../src/observability/tracing.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { chunksOf, synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { finalsOf } from '../../support/live/clients/live-messages.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { type CollectedSpan, startTraceCollector } from '../../support/net/trace-collector.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

/** Packages that were loaded since this process began. */
const loaded = new Set<string>()
registerHooks({
  resolve(specifier, context, next) {
    loaded.add(specifier)
    return next(specifier, context)
  },
})

type Env = Record<string, string>

/** Sets variables that the packages read by themselves, for this test. */
function setEnvironment(t: TestContext, env: Env): void {
  Object.assign(process.env, env)
  t.after(() => {
    for (const name of Object.keys(env)) delete process.env[name]
  })
}

type Options = { env?: Env; speech?: SpeechEngine }

/** Does `work` with a server whose traces are collected, and resolves to them once it is closed. */
async function trace(
  t: TestContext,
  work: (server: TestServer) => Promise<void>,
  { env = {}, speech }: Options = {},
) {
  const collector = await startTraceCollector()
  t.after(() => collector.close())
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }
  setEnvironment(t, all)
  const server = await startServer({ env: all, ...(speech && { speech }) })
  try {
    await work(server)
  } finally {
    await server.close()
  }
  return collector
}

/** The one span of that name. */
function only(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.filter((span) => span.name === name)
  assert.equal(found.length, 1, `${name} among ${spans.map((span) => span.name)}`)
  return found[0]!
}

async function runJob(server: TestServer): Promise<string> {
  const audio_url = await upload(server, createToneWav(6))
  const json = { audio_url }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  return body.id
}

// First of all: later ones load the packages.
test('without settings nothing is traced and no tracing package is loaded', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  await call(server, '/health')
  const packages = [...loaded].filter((name) => /^@opentelemetry\/(?!api$)/.test(name))
  assert.deepEqual(packages, [])
  await import('../../../src/observability/otlp.ts')
  assert.ok(loaded.has('@opentelemetry/sdk-trace'), 'it had not been loaded before the hook')
})

test('a job is traced with its stages, and requests with their routes', async (t) => {
  let id = ''
  const { spans, resource, requests } = await trace(t, async (server) => {
    id = await runJob(server)
  })
  const attempt = only(spans, 'job attempt')
  assert.equal(attempt.parent, '')
  assert.equal(attempt.attributes['steno.job.id'], id)
  assert.equal(Number(attempt.attributes['steno.job.attempt']), 1)
  assert.equal(attempt.isError, false)
  for (const stage of ['fetch', 'wait', 'decode', 'detect speech', 'recognize', 'build result']) {
    const span = only(spans, stage)
    assert.deepEqual([span.trace, span.parent], [attempt.trace, attempt.id], stage)
    assert.ok(span.milliseconds >= 0 && span.milliseconds <= attempt.milliseconds, stage)
  }
  const request = only(spans, 'POST /v2/pre-recorded')
  assert.equal(request.kind, 2, 'a server')
  assert.equal(Number(request.attributes['http.response.status_code']), 201)
  assert.match(String(request.attributes['steno.request.id']), /^G-/)
  assert.equal(resource['service.name'], 'steno')
  assert.equal(requests[0]?.path, '/v1/traces')
  assert.equal(requests[0]?.headers['content-type'], 'application/x-protobuf')
})

test('a failed attempt is traced with its code and without its message', async (t) => {
  const speech = createFakeSpeechEngine('x', {
    onBatch: () => Promise.reject(new Error('said aloud')),
  })
  const { spans, requests } = await trace(t, async (server) => void (await runJob(server)), {
    speech,
  })
  const attempt = only(spans, 'job attempt')
  assert.equal(attempt.isError, true)
  assert.equal(attempt.attributes['error.type'], 'Error')
  assert.equal(only(spans, 'recognize').isError, true)
  assert.ok(requests.every(({ body }) => !body.includes('said aloud')))
})

test('a live session is traced with its finals and without their text', async (t) => {
  let opened = { id: '', url: '' }
  let finals = 0
  const { spans, requests } = await trace(t, async (server) => {
    opened = await openSession(server)
    const client = await connect(opened.url)
    const audio = synthesizeAudio('....##########.....########.....')
    for (const chunk of chunksOf(audio, 3200)) client.send(chunk)
    client.stop()
    await client.closed
    finals = finalsOf(client.messages).length
  })
  const session = only(spans, 'live session')
  assert.equal(session.attributes['steno.session.id'], opened.id)
  assert.equal(session.attributes['steno.session.end'], 'done')
  const utterances = spans.filter(({ name }) => name === 'utterance final')
  assert.ok(finals > 0)
  assert.equal(utterances.length, finals)
  assert.ok(utterances.every(({ parent }) => parent === session.id))
  const token = new URL(opened.url).searchParams.get('token')!
  for (const secret of ['hello', token, 'test-key']) {
    assert.ok(
      requests.every(({ body }) => !body.includes(secret)),
      secret,
    )
  }
})

test('a request continues the trace of its caller', async (t) => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const { spans } = await trace(t, async (server) => {
    const ask = (path: string, traceparent: string) => {
      return call(server, path, { headers: { traceparent } })
    }
    await ask('/health', `00-${traceId}-00f067aa0ba902b7-01`)
    await ask('/ready', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`)
    await ask('/docs', `00-${traceId}-00f067aa0ba902b7-00`)
  })
  const health = only(spans, 'GET /health')
  assert.deepEqual([health.trace, health.parent], [traceId, '00f067aa0ba902b7'])
  const ready = only(spans, 'GET /ready')
  assert.equal(ready.parent, '', 'what cannot be an id is ignored')
  const names = spans.map(({ name }) => name)
  assert.ok(!names.includes('GET /docs'), 'the caller does not trace this one')
})

test('an unknown path is traced without the path', async (t) => {
  const { spans, requests } = await trace(t, async (server) => {
    await call(server, '/my-secret-path')
  })
  assert.equal(Number(only(spans, 'GET unknown').attributes['http.response.status_code']), 404)
  assert.ok(requests.every(({ body }) => !body.includes('my-secret-path')))
})

test('OTEL variables for name, attributes, headers and protocol are applied', async (t) => {
  const env = {
    OTEL_SERVICE_NAME: 'dictation',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  }
  const health = async (server: TestServer) => void (await call(server, '/health'))
  const { spans, resource, requests } = await trace(t, health, { env })
  only(spans, 'GET /health')
  assert.equal(resource['service.name'], 'dictation')
  assert.equal(resource['deployment.environment.name'], 'test')
  assert.equal(requests[0]?.headers['x-collector-key'], 'abc')
  assert.equal(requests[0]?.headers['content-type'], 'application/json')
})

test('the sampler always_off exports no span', async (t) => {
  const env = { OTEL_TRACES_SAMPLER: 'always_off' }
  const health = async (server: TestServer) => void (await call(server, '/health'))
  const { requests } = await trace(t, health, { env })
  assert.deepEqual(requests, [])
})

test('the private server of a command traces nothing', async (t) => {
  const collector = await startTraceCollector()
  t.after(() => collector.close())
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  setEnvironment(t, env)
  const server = await startPrivateServer(
    { ...env, STENO_WORKERS: '1' },
    { printLine() {}, signal: t.signal },
  )
  await fetch(`${server.url}/health`)
  await server.close()
  assert.deepEqual(collector.requests, [])
})

test('an unavailable collector is logged once, without its headers', async (t) => {
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '200',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=sesame',
  }
  setEnvironment(t, env)
  const { log, lines } = captureLog()
  const server = await startServer({ env, log })
  assert.equal((await call(server, '/health')).status, 200)
  await server.close()
  const reported = lines.filter(({ module }) => module === 'tracing')
  assert.equal(reported.length, 1)
  assert.equal(reported[0]?.msg, 'cannot send traces, dropping them')
  assert.ok(!JSON.stringify(lines).includes('sesame'))
})

test('an unresponsive collector does not delay a stop', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  setEnvironment(t, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
  const tracing = {
    protocol: 'http/protobuf' as const,
    sampler: { isParentBased: true, ratio: 1 },
  }
  const { start, close } = await createTracing({ tracing }, captureLog().log)
  start('some work').end()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const closed = close()
  await once(silent, 'request')
  t.mock.timers.tick(3000)
  await closed
})
