/** Watching a session that runs: by key and by link, on its node and another. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import type { ApiCreatedShare, ApiSharedRecording } from '../../src/cli/client/api-types.ts'
import { connect, type OpenedSession, openSession } from '../support/live/clients/live-client.ts'
import { speech } from '../support/live/sessions/live-session-jobs.ts'
import { call, sendRaw } from '../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../support/server/start-server.ts'
import { noPostgres, takeDatabase } from '../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

type Caption = { id: string; text: string; is_final: boolean; start: number; channel: number }

/** Opens a stream of captions. */
async function watch(url: string, key?: string) {
  const response = await fetch(url, { headers: key === undefined ? {} : { 'x-service-key': key } })
  const body = response.status === 200 ? text(response.body!) : undefined
  return { response, body }
}

/** Reads what a stream sent until it ended. */
function captionsIn(body: string): Caption[] {
  return [...body.matchAll(/event: caption\ndata: (.*)\n/g)].map(([, data]) => JSON.parse(data!))
}

async function share(of: TestServer, id: string): Promise<string> {
  const { status, body } = await call<ApiCreatedShare>(of, `/v2/live/${id}/share`, { json: {} })
  assert.equal(status, 201)
  return `/v2/shared/${body.url.split('/').at(-1)!}`
}

test('a viewer gets captions until the session ends, by key and by link', async () => {
  const params = { messages_config: { receive_partial_transcripts: true } }
  const { id, url } = await openSession(server, params)
  const path = `${server.url}/v2/live/${id}/captions`
  const shared = await share(server, id)
  const early = await watch(path, server.key)
  assert.equal(early.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const visitor = await watch(`${server.url}${shared}/captions`)

  const client = await connect(url)
  client.send(speech)
  const { data } = await client.waitForType('transcript', ({ data }) => data.is_final)
  const view = (await (await fetch(server.url + shared)).json()) as ApiSharedRecording
  assert.deepEqual([view.kind, view.is_live, view.has_audio], ['live', true, false])
  assert.deepEqual(view.transcript, { utterances: [] })
  const late = await watch(path, server.key)
  client.stop()
  await client.closed
  for (const { body } of [early, visitor, late]) {
    const all = await body!
    assert.match(all, /event: end\ndata: \{\}\n\n$/)
    const final = captionsIn(all).find(({ id, is_final }) => is_final && id === data.id)!
    assert.deepEqual(final, {
      id: data.id,
      is_final: true,
      start: data.utterance.start,
      channel: 0,
      language: 'en',
      text: data.utterance.text.trim(),
    })
  }
  assert.ok(captionsIn((await early.body)!).some(({ is_final }) => !is_final))
  const ended = (await (await fetch(server.url + shared)).json()) as ApiSharedRecording
  const { utterances } = ended.transcript as { utterances: unknown[] }
  assert.deepEqual([ended.is_live, ended.has_audio, utterances.length > 0], [false, true, true])
  assert.match((await (await watch(path, server.key)).body)!, /^retry: 1000\n\nevent: end\n/)
})

test('captions of another account, or without a key, are rejected', async () => {
  const { id } = await openSession(server)
  const path = `${server.url}/v2/live/${id}/captions`
  assert.equal((await watch(path)).response.status, 401)
  assert.equal((await watch(path, OTHER_KEY)).response.status, 404)
  const recorded = `${server.url}/v2/live/00000000-0000-4000-8000-000000000000/captions`
  assert.equal((await watch(recorded, server.key)).response.status, 404)
})

test('ending a share link ends its captions', async () => {
  const { id, url } = await openSession(server)
  const shared = await share(server, id)
  const visitor = await watch(`${server.url}${shared}/captions`)
  const client = await connect(url)
  client.send(speech)
  await client.waitForType('transcript', ({ data }) => data.is_final)
  const { body } = await call<{ items: { id: string }[] }>(server, `/v2/live/${id}/shares`)
  const one = `/v2/live/${id}/shares/${body.items[0]!.id}`
  assert.equal((await call(server, one, { method: 'DELETE' })).status, 204)
  assert.doesNotMatch((await visitor.body)!, /event: end/)
  assert.equal((await watch(`${server.url}${shared}/captions`)).response.status, 404)
  client.close()
  await client.closed
})

test('streams that have ended leave nothing behind on their connection', async (t) => {
  const listeners: number[] = []
  const count = ({ socket }: IncomingMessage) => void listeners.push(socket.listenerCount('close'))
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.stop()
  await client.closed
  server.app.http.server.on('request', count)
  t.after(() => server.app.http.server.off('request', count))
  for (let i = 0; i < 3; i++) {
    const { body } = await watch(`${server.url}/v2/live/${id}/captions`, server.key)
    assert.match((await body)!, /event: end/)
  }
  assert.equal(listeners[2], listeners[1])
})

/** Opens a session on another node; one that is too busy to report in time is asked again. */
async function openOnNode(api: TestServer): Promise<OpenedSession> {
  for (;;) {
    const { status, body } = await call<OpenedSession>(api, '/v2/live', { json: {} })
    if (status === 201) return body
    assert.equal(status, 503, JSON.stringify(body))
  }
}

test('captions are forwarded from the node that runs the session', {
  skip: noPostgres,
}, async (t) => {
  const { url: database } = await takeDatabase(t)
  const shared = { STENO_DATABASE_URL: database, STENO_DATA_DIR: await makeFolder(t) }
  const start = (roles: string) =>
    startServer({ env: { ...shared, STENO_ROLES: roles, STENO_LIVE_SLOTS: '10' } })
  const [api, live] = await Promise.all([start('api'), start('live,worker')])
  try {
    const { id, url } = await openOnNode(api)
    const link = await share(api, id)
    const client = await connect(url)
    client.send(speech)
    await client.waitForType('transcript', ({ data }) => data.is_final)
    // Another host in the first line of a request is not asked, and trailers are not passed on.
    const lines = [
      ...[`GET http://127.0.0.1:1/v2/live/${id}/captions HTTP/1.0`, 'host: localhost'],
      ...[`x-service-key: ${api.key}`, 'trailer: x-end'],
    ]
    const raw = sendRaw(api, `${lines.join('\r\n')}\r\n\r\n`)
    const watching = await Promise.all([
      watch(`${api.url}/v2/live/${id}/captions`, api.key),
      watch(`${api.url}${link}/captions`),
    ])
    client.stop()
    await client.closed
    for (const body of [...watching.map(({ body }) => body!), raw]) {
      const all = await body
      assert.match(all, /event: end\ndata: \{\}\n\n$/)
      assert.ok(captionsIn(all).some(({ is_final }) => is_final))
    }
  } finally {
    await Promise.all([api.close(), live.close()])
  }
})

test('a stream that cannot be opened does not count as a watcher', {
  skip: noPostgres,
}, async (t) => {
  const { url: database } = await takeDatabase(t)
  const shared = { STENO_DATABASE_URL: database, STENO_DATA_DIR: await makeFolder(t) }
  const start = (roles: string) =>
    startServer({ env: { ...shared, STENO_ROLES: roles, STENO_LIVE_SLOTS: '10' } })
  const [api, live] = await Promise.all([start('api'), start('live')])
  t.after(() => Promise.all([api.close(), live.close()]))
  const { id, url } = await openOnNode(api)
  const client = await connect(url)
  client.send(speech.subarray(0, 32_000))
  await client.waitForType('audio_chunk')
  await live.app.storage.node.report({ url: 'nowhere' })
  for (let i = 0; i < 201; i++) {
    const { response } = await watch(`${api.url}/v2/live/${id}/captions`, api.key)
    assert.equal(response.status, 500)
  }
  await live.app.storage.node.report({ url: live.url })
  const { response, body } = await watch(`${api.url}/v2/live/${id}/captions`, api.key)
  assert.equal(response.status, 200)
  client.stop()
  await body
})
