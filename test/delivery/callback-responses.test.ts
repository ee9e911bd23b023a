import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import {
  callbackOf,
  type ReportingServer,
  startReportingServer,
} from '../support/delivery/reporting-server.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
/** More than the pause before the second attempt, which is 7.5 s at most. */
const PAUSE_MS = 10_000

let server: ReportingServer

before(async () => {
  server = await startReportingServer(() => ({ STENO_WEBHOOK_SECRETS: `test:${SECRET}` }))
})
after(() => server.close())

test('a failed event is retried with its id and body and a new signature', async () => {
  const statuses = [500, 503, 200]
  server.answers.set('/again', () => statuses.shift())
  const job = await server.callBack('/again')
  assert.equal(server.receiver.at('/again').length, 1)
  const pending = await callbackOf(server, job)
  assert.deepEqual([pending.status, pending.reason], ['pending', 'the receiver responded with 500'])
  const pause = Date.parse(pending.next_attempt_at!) - Date.parse(pending.attempts[0]!.at)
  assert.ok(pause >= 2500 && pause < 9000, `${pause} ms`)

  await server.skip(PAUSE_MS)
  await server.skip(6 * PAUSE_MS)
  const received = server.receiver.at('/again')
  assert.equal(received.length, 3)
  for (const { body, headers } of received) {
    assert.deepEqual([headers['webhook-id'], body], [pending.id, received[0]!.body])
    new Webhook(SECRET).verify(body, headers as Record<string, string>)
  }
  const { status, attempt_count, attempts } = await callbackOf(server, job)
  assert.deepEqual([status, attempt_count], ['delivered', 3])
  assert.deepEqual(
    attempts.map(({ number, status_code, response_body }) => [number, status_code, response_body]),
    [500, 503, 200].map((status, i) => [i + 1, status, 'heard']),
  )
})

test('Retry-After of a receiver is respected', async () => {
  const statuses = [429, 200]
  server.answers.set('/later', (_one, response) => {
    response.setHeader('retry-after', '100')
    return statuses.shift()
  })
  await server.callBack('/later')
  await server.skip(90_000)
  assert.equal(server.receiver.at('/later').length, 1)
  await server.skip(PAUSE_MS)
  assert.equal(server.receiver.at('/later').length, 2)
})

test('a redirect is a failure and is not followed', async () => {
  const there = `${server.receiver.url}/there`
  server.answers.set('/moved', (_one, response) => {
    response.setHeader('location', there)
    return 307
  })
  const job = await server.callBack('/moved')
  await server.skip(PAUSE_MS)
  assert.equal(server.receiver.at('/moved').length, 2)
  assert.deepEqual(server.receiver.at('/there'), [])
  const { status, attempts } = await callbackOf(server, job)
  assert.deepEqual([status, attempts[0]!.response_headers!.location], ['pending', there])
})

test('a callback that responds with 410 gets no more events', async () => {
  server.answers.set('/gone', () => 410)
  const job = await server.callBack('/gone')
  await server.skip(PAUSE_MS)
  assert.equal(server.receiver.at('/gone').length, 1)
  const { status, reason, next_attempt_at } = await callbackOf(server, job)
  assert.deepEqual([status, reason, next_attempt_at], ['failed', 'gone', null])
})

test('an endless response counts by its status, and its first kilobyte is kept', async () => {
  server.answers.set('/endless', (_one, response) => {
    const pour = () => {
      while (response.write('é'.repeat(4096)));
    }
    response.on('drain', pour).writeHead(200)
    pour()
    return undefined
  })
  const { status, attempts } = await callbackOf(server, await server.callBack('/endless'))
  assert.equal(status, 'delivered')
  assert.equal(attempts[0]!.response_body, 'é'.repeat(512))
})

test('a receiver that breaks the connection is retried, and the job is unaffected', async () => {
  let isBroken = true
  server.answers.set('/broken', (_one, response) => {
    if (!isBroken) return 200
    response.destroy()
    return undefined
  })
  const job = await server.callBack('/broken')
  const { status_code, error, response_headers } = (await callbackOf(server, job)).attempts[0]!
  assert.deepEqual([job.status, status_code, response_headers], ['done', null, null])
  assert.ok(error)
  isBroken = false
  await server.skip(PAUSE_MS)
  assert.equal((await callbackOf(server, job)).status, 'delivered')
})
