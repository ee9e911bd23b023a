import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { synthesizeAudio } from '../support/audio/synthesize-audio.ts'
import {
  listDeliveries,
  type ReportingServer,
  startReportingServer,
} from '../support/delivery/reporting-server.ts'
import { connect, openSession } from '../support/live/clients/live-client.ts'
import { call } from '../support/net/http-client.ts'

let server: ReportingServer

before(async () => {
  server = await startReportingServer()
})
after(() => server.close())

/**
 * Runs a session that calls a path of the receiver, and waits until nobody is to be told anything
 * now.
 */
async function runSession(path: string): Promise<string> {
  const callback_config = { url: server.receiver.url + path }
  const { id, url } = await openSession(server, { callback: true, callback_config })
  const client = await connect(url)
  client.send(synthesizeAudio('..####......'))
  client.stop()
  await client.closed
  await server.app.delivery.idle()
  return id
}

function eventsAt(path: string): string[] {
  return server.receiver.at(path).map(({ body }) => JSON.parse(body).event)
}

const events = [
  'live.start_session',
  'live.start_recording',
  'live.transcript',
  'live.end_recording',
  'live.post_transcript',
  'live.post_final_transcript',
  'live.end_session',
]

test('the log of a session shows each message, last first', async () => {
  const id = await runSession('/log')
  assert.deepEqual(eventsAt('/log'), events)
  const deliveries = await listDeliveries(server, `job_id=${id}`)
  assert.deepEqual(
    deliveries.map(({ event, kind, status }) => `${event} ${kind} ${status}`),
    events.map((event) => `${event} live_callback delivered`).toReversed(),
  )
  const finals = await listDeliveries(server, 'event=live.transcript&limit=1')
  assert.deepEqual(finals, [deliveries.find(({ event }) => event === 'live.transcript')])
})

test('a missed message delays the rest of its session until it fails after a minute', async () => {
  let isDown = true
  server.answers.set('/down', ({ body }) => {
    return isDown && JSON.parse(body).event === 'live.start_recording' ? 500 : 200
  })
  const id = await runSession('/down')
  assert.deepEqual(eventsAt('/down'), events.slice(0, 2))
  const pending = await listDeliveries(server, `job_id=${id}&status=pending`)
  const waiting = pending.filter(({ next_attempt_at }) => next_attempt_at === null)
  assert.deepEqual([pending.length, waiting.length], [6, 5])

  // Six attempts, with pauses of 80 s in all at most.
  for (let i = 0; i < 5; i++) await server.skip(45_000)
  const tries = Array(6).fill(events[1])
  assert.deepEqual(eventsAt('/down'), [events[0], ...tries, ...events.slice(2)])
  const [failed, ...others] = await listDeliveries(server, `job_id=${id}&status=failed`)
  assert.deepEqual([failed!.event, failed!.attempt_count, others], [events[1], 6, []])

  isDown = false
  const resent = await call(server, `/v2/deliveries/${failed!.id}/resend`, { method: 'POST' })
  assert.equal(resent.status, 202)
  await server.app.delivery.idle()
  assert.equal(eventsAt('/down').at(-1), events[1])
})

test('deleting a session deletes its deliveries', async () => {
  const id = await runSession('/deleted')
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 202)
  assert.deepEqual(await listDeliveries(server, `job_id=${id}`), [])
})
