import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  NOWHERE,
  type ReportingServer,
  startReportingServer,
} from '../support/delivery/reporting-server.ts'
import { connect, openSession } from '../support/live/clients/live-client.ts'
import { call } from '../support/net/http-client.ts'

/** Less than the minute after which the server looks by itself for what is to be told. */
const AT_ONCE = { timeout: 30_000 }

let server: ReportingServer

before(async () => {
  server = await startReportingServer((url) => ({
    STENO_WEBHOOKS: `test=${url}/account`,
    STENO_CALLBACK_TIMEOUT_S: '600',
  }))
})
after(() => server.close())

/** Waits until the account has heard an event of a job. */
async function notified(event: string, id: string): Promise<void> {
  const received = JSON.stringify({ event, payload: { id } })
  while (!server.receiver.at('/account').some(({ body }) => body === received)) await delay(5)
}

async function submit(fields: Record<string, unknown> = {}): Promise<string> {
  const json = { audio_url: server.audioUrl, ...fields }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201)
  return body.id
}

test("events of a job's creation and end are sent immediately", AT_ONCE, async () => {
  const id = await submit()
  await notified('transcription.created', id)
  await notified('transcription.success', id)
  const failed = await submit({ audio_url: NOWHERE })
  await notified('transcription.error', failed)
})

test('events of a live session are sent immediately', AT_ONCE, async () => {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  await notified('live.start_session', id)
  client.stop()
  await client.closed
  await notified('live.end_session', id)
})

test('deleting a job aborts its running delivery immediately', AT_ONCE, async () => {
  const retryAfter = Promise.withResolvers<void>()
  const cut = Promise.withResolvers<void>()
  server.answers.set('/stalled', (_, response) => {
    response.on('close', () => cut.resolve())
    retryAfter.resolve()
    return undefined
  })
  const url = `${server.receiver.url}/stalled`
  const id = await submit({ callback: true, callback_config: { url } })
  await retryAfter.promise
  const { status } = await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  assert.equal(status, 202)
  await cut.promise
})
