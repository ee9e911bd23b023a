import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { synthesizeAudio } from '../support/audio/synthesize-audio.ts'
import {
  callbackOf,
  listDeliveries,
  listEndpoints,
  NOWHERE,
  type ReportingServer,
  startReportingServer,
} from '../support/delivery/reporting-server.ts'
import { connect, openSession } from '../support/live/clients/live-client.ts'
import { call } from '../support/net/http-client.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let server: ReportingServer

before(async () => {
  server = await startReportingServer((url) => ({
    STENO_WEBHOOK_SECRETS: `test:${SECRET}`,
    STENO_WEBHOOKS: `test=${url}/account`,
    STENO_WEBHOOK_HEADER_PREFIXES: 'X-Hook',
    STENO_CALLBACK_USER_AGENT: 'hooks/1',
  }))
})
after(() => server.close())

test('the end of a job is sent with its stored result', async () => {
  const custom_metadata = { team: 'red' }
  const { id, result } = await server.callBack('/done', { custom_metadata })
  const [reported, ...others] = server.receiver.at('/done')
  assert.equal(others.length, 0)
  const body = { id, event: 'transcription.success', payload: result, custom_metadata }
  assert.equal(reported!.body, JSON.stringify(body))
  assert.equal(reported!.method, 'POST')
  assert.equal(reported!.headers['content-type'], 'application/json')
  assert.equal(reported!.headers['user-agent'], 'hooks/1')
})

test('the failure of a job is sent with its code and message', async () => {
  const job = await server.callBack('/failed', { audio_url: NOWHERE })
  const { message } = job.post_session_metadata.failure as { message: string }
  const [reported] = server.receiver.at('/failed')
  const error = { code: job.error_code, message }
  assert.equal(error.code, 502)
  assert.equal(reported!.body, JSON.stringify({ id: job.id, event: 'transcription.error', error }))
})

test('a callback uses PUT if requested, and the legacy field POST', async () => {
  const { url } = server.receiver
  await server.callBack('/put', { callback_config: { url: `${url}/put`, method: 'PUT' } })
  await server.run({ callback_url: `${url}/older` })
  const methods = ['/put', '/older'].map((path) => server.receiver.at(path)[0]?.method)
  assert.deepEqual(methods, ['PUT', 'POST'])
})

/** Far less than the minute after which the server looks by itself. */
const soon = { timeout: 20_000 }

test('the callback is sent when the job ends, without polling delay', soon, async () => {
  const callback_url = `${server.receiver.url}/soon`
  const json = { audio_url: server.audioUrl, callback_url }
  await call(server, '/v2/pre-recorded', { json })
  await server.receiver.until('/soon', 1)
  await server.app.delivery.idle()
})

test('a callback configuration without its switch sends nothing', async () => {
  await server.callBack('/off', { callback: false })
  assert.deepEqual(server.receiver.at('/off'), [])
})

test('the account webhook gets an event when a job is created and when it ends', async () => {
  const from = server.receiver.at('/account').length
  const { id } = await server.run()
  const { id: failed } = await server.run({ audio_url: NOWHERE })
  const events = [
    ['transcription.created', id],
    ['transcription.success', id],
    ['transcription.created', failed],
    ['transcription.error', failed],
  ]
  const reported = server.receiver.at('/account').slice(from)
  assert.deepEqual(
    reported.map(({ body }) => body),
    events.map(([event, id]) => JSON.stringify({ event, payload: { id } })),
  )
  assert.equal(new Set(reported.map(({ headers }) => headers['webhook-id'])).size, 4)
})

test('the account webhook gets the events of a live session in order', async () => {
  const from = server.receiver.at('/account').length
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.send(synthesizeAudio('..###......'))
  client.stop()
  await client.closed
  await server.app.delivery.idle()
  const events = ['start_session', 'start_recording', 'end_recording', 'end_session']
  const reported = server.receiver.at('/account').slice(from)
  assert.deepEqual(
    reported.map(({ body }) => body),
    events.map((event) => JSON.stringify({ event: `live.${event}`, payload: { id } })),
  )
})

test('every request has Standard Webhooks signatures under each prefix', async () => {
  await server.callBack('/signed')
  const webhook = new Webhook(SECRET)
  const reported = ['/signed', '/account'].flatMap((path) => server.receiver.at(path))
  assert.ok(reported.length > 2)
  for (const { body, headers } of reported) {
    webhook.verify(body, headers as Record<string, string>)
    assert.throws(() => webhook.verify(`${body} `, headers as Record<string, string>))
    for (const name of ['id', 'timestamp', 'signature']) {
      assert.equal(headers[`x-hook-${name}`], headers[`webhook-${name}`])
    }
  }
})

test('events of an account without a secret are unsigned', async (t) => {
  const unsigned = await startReportingServer()
  t.after(() => unsigned.close())
  await unsigned.callBack('/unsigned')
  const [reported] = unsigned.receiver.received
  const names = Object.keys(reported!.headers).filter((name) => name.startsWith('webhook-'))
  assert.deepEqual(names, ['webhook-id', 'webhook-timestamp'])
})

test('with private networks blocked a receiver there gets no request', async (t) => {
  const guarded = await startReportingServer(() => ({ STENO_ALLOW_PRIVATE_NETWORK: 'false' }))
  t.after(() => guarded.close())
  const { port } = new URL(guarded.receiver.url)
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]', '0']) {
    const url = `http://${host}:${port}/secret`
    const job = await guarded.run({ callback_url: url })
    const { status, attempts } = await callbackOf(guarded, job)
    assert.equal(status, 'pending')
    assert.match(attempts[0]!.error ?? '', /not a public address/, host)
  }
  assert.deepEqual(guarded.receiver.received, [])
})

test('URL parts reach the receiver, and the log hides secrets', async () => {
  const { host } = new URL(server.receiver.url)
  const url = `http://me:p%40ss@${host}/parts?a=1&b=%20#place`
  const job = await server.run({ callback: true, callback_config: { url } })
  const [reported] = server.receiver.at('/parts?a=1&b=%20')
  assert.equal(reported!.headers.authorization, `Basic ${btoa('me:p@ss')}`)
  assert.equal((await callbackOf(server, job)).url, `http://***@${host}/parts?a=1&b=%20#place`)
  const text = JSON.stringify([await listDeliveries(server), await listEndpoints(server)])
  for (const secret of ['p%40ss', 'p@ss', btoa('me:p@ss'), SECRET.slice(6), 'v1,']) {
    assert.ok(!text.includes(secret), secret)
  }
})
