import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { deleteKey } from '../../../src/storage/accounts/keys.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

type Event = { id: string; event: string; data: { id: string; status: string; at: string } }

/** Connects, and yields the events of a key as they arrive. */
async function listen(t: { after(fn: () => void): void }, { key = server.key, lastId = '' } = {}) {
  const gone = new AbortController()
  t.after(() => gone.abort())
  const headers = { 'x-service-key': key, ...(lastId && { 'last-event-id': lastId }) }
  const response = await fetch(`${server.url}/v2/events`, { headers, signal: gone.signal })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  // At once: an unread body is canceled when its response is collected as garbage.
  return parseEvents(response.body!.pipeThrough(new TextDecoderStream() as never))
}

async function* parseEvents(texts: ReadableStream<string>): AsyncGenerator<Event> {
  let text = ''
  for await (const part of texts) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)))
      if (fields.event) yield { ...fields, data: JSON.parse(fields.data) } as Event
    }
  }
}

async function take(events: AsyncGenerator<Event>, count: number): Promise<Event[]> {
  const taken: Event[] = []
  while (taken.length < count) taken.push((await events.next()).value)
  return taken
}

async function createJob(): Promise<string> {
  const audio_url = await upload(server, createToneWav(1))
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json: { audio_url } })
  return body.id
}

test('events report the states of a job to its account and resume after an id', async (t) => {
  const events = await listen(t)
  const others = await listen(t, { key: OTHER_KEY })
  const id = await createJob()
  const life = await take(events, 3)
  assert.deepEqual(
    life.map(({ event, data }) => [event, data.id, data.status]),
    ['queued', 'processing', 'done'].map((status) => ['job', id, status]),
  )
  assert.ok(Math.abs(Date.parse(life[0]!.data.at) - Date.now()) < 60_000)

  await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  assert.equal((await take(events, 1))[0]!.data.status, 'deleted')
  const resumed = await listen(t, { lastId: life[1]!.id })
  const rest = await take(resumed, 2)
  assert.deepEqual(
    rest.map(({ data }) => data.status),
    ['done', 'deleted'],
  )

  const { body } = await call<{ id: string }>({ ...server, key: OTHER_KEY }, '/v2/live', {
    json: {},
  })
  const [session] = await take(others, 1)
  assert.deepEqual([session!.event, session!.data.id], ['session', body.id])
})

test('an invalid Last-Event-ID is rejected, and so is a stream without a key', async () => {
  const headers = { 'x-service-key': server.key, 'last-event-id': 'x' }
  const refused = await fetch(`${server.url}/v2/events`, { headers })
  assert.equal(refused.headers.get('x-error-code'), 'request_invalid')
  const { validation_errors: lines } = (await refused.json()) as { validation_errors: string[] }
  // SDKs read a field from letters, digits, `_` and `.` alone.
  assert.deepEqual(lines, ['last_event_id must be the id of an event'])
  const { status, body } = await fetch(`${server.url}/v2/events`)
  await body?.cancel()
  assert.equal(status, 401)
})

test('an event stream ends when its key is revoked or its browser signs out', async (t) => {
  const { db } = server.app.storage
  const { key, id } = await generateKey(db, { account: 'test' })
  const events = await listen(t, { key })
  await createJob()
  await take(events, 1)
  const signedIn = await fetch(`${server.url}/v2/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: server.key }),
  })
  const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!
  const { csrf_token } = (await signedIn.json()) as { csrf_token: string }
  const ofBrowser = await fetch(`${server.url}/v2/events`, { headers: { cookie } })
  const shown = ofBrowser.text()

  await deleteKey(db, id)
  const headers = { cookie, 'x-csrf-token': csrf_token }
  const signedOut = await fetch(`${server.url}/v2/sign-in`, { method: 'DELETE', headers })
  assert.ok(signedOut.ok)
  await shown
  for await (const { data } of events) assert.notEqual(data.status, 'deleted')
})

test('event streams that have ended leave nothing behind on their connection', async (t) => {
  const listeners: number[] = []
  const count = ({ socket }: IncomingMessage) => void listeners.push(socket.listenerCount('close'))
  server.app.http.server.on('request', count)
  t.after(() => server.app.http.server.off('request', count))
  const { db } = server.app.storage
  for (let i = 0; i < 3; i++) {
    const { key, id } = await generateKey(db, { account: 'test' })
    const events = await listen(t, { key })
    await deleteKey(db, id)
    assert.ok((await events.next()).done)
  }
  assert.equal(listeners[2], listeners[1])
})

test('an open event stream does not delay a stop', async (t) => {
  const other = await startServer()
  const gone = new AbortController()
  t.after(() => gone.abort())
  const headers = { 'x-service-key': other.key }
  const stream = await fetch(`${other.url}/v2/events`, { headers, signal: gone.signal })
  const ended = stream.text()
  const started = performance.now()
  await other.close()
  await ended
  assert.ok(performance.now() - started < 10_000)
})
