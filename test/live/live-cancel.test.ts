import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, openSession } from '../support/live/clients/live-client.ts'
import {
  jobOf,
  type SessionJob,
  speech,
  withServer,
} from '../support/live/sessions/live-session-jobs.ts'
import { call, type ErrorBody } from '../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../support/server/start-server.ts'
import { noPostgres, takeDatabase } from '../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

type Job = SessionJob & { post_session_metadata: { failure?: { code: number; reason?: string } } }

function cancel(id: string, server: TestServer, key = server.key) {
  const headers = { 'x-service-key': key }
  return call<ErrorBody>(server, `/v2/live/${id}/cancel`, { method: 'POST', headers })
}

async function assertCanceled(id: string, server: TestServer): Promise<void> {
  const { status, error_code, result, post_session_metadata } = (await jobOf(id, server)) as Job
  assert.deepEqual([status, error_code, result], ['error', 499, null])
  assert.equal(post_session_metadata.failure?.reason, 'cancelled')
  assert.equal((await cancel(id, server)).status, 422)
}

test('an open session is canceled at once and keeps its recording', async () => {
  await withServer({ STENO_LIVE_SLOTS: '1' }, async (server) => {
    const { id, url } = await openSession(server)
    const client = await connect(url)
    client.send(speech)
    await client.waitForType('audio_chunk')
    assert.equal((await cancel(id, server, OTHER_KEY)).status, 404)
    assert.equal((await cancel(id, server)).status, 202)
    await assertCanceled(id, server)
    assert.equal((await client.closed).code, 4410)
    assert.equal((await (await connect(url)).closed).code, 4410)
    const headers = { 'x-service-key': server.key }
    const file = await fetch(`${server.url}/v2/live/${id}/file`, { headers })
    assert.deepEqual(Buffer.from(await file.arrayBuffer()).subarray(44), Buffer.from(speech))
    // Its place is free, and it can be deleted.
    assert.equal((await call(server, '/v2/live', { json: {} })).status, 201)
    assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 202)
  })
})

test('a session without a connected client can be canceled', async () => {
  await withServer({}, async (server) => {
    const waiting = await openSession(server)
    assert.equal((await cancel(waiting.id, server)).status, 202)
    await assertCanceled(waiting.id, server)
    assert.equal((await (await connect(waiting.url)).closed).code, 4410)
    const left = await openSession(server)
    const client = await connect(left.url)
    client.terminate()
    await client.closed
    assert.equal((await cancel(left.id, server)).status, 202)
    await assertCanceled(left.id, server)
  })
})

test('an ended session cannot be canceled', async () => {
  await withServer({}, async (server) => {
    const { id, url } = await openSession(server)
    const client = await connect(url)
    client.stop()
    await client.closed
    assert.equal((await cancel(id, server)).status, 422)
    assert.equal((await jobOf(id, server)).status, 'done')
    const unknown = await cancel('00000000-0000-4000-8000-000000000000', server)
    assert.equal(unknown.status, 404)
  })
})

describe('nodes of one database', { skip: noPostgres }, () => {
  test('a session of another node can be canceled', async (t) => {
    const { url: database } = await takeDatabase(t)
    const shared = { STENO_DATABASE_URL: database, STENO_DATA_DIR: await makeFolder(t) }
    const start = () => startServer({ env: { ...shared, STENO_LIVE_SLOTS: '10' } })
    const [one, two] = await Promise.all([start(), start()])
    try {
      const { id, url } = await openSession(one)
      const client = await connect(url)
      client.send(speech)
      await client.waitForType('audio_chunk')
      assert.equal((await cancel(id, two)).status, 202)
      await assertCanceled(id, one)
      await one.app.live.renewLeases()
      assert.equal((await client.closed).code, 1012)
      assert.equal((await (await connect(url)).closed).code, 4410)
    } finally {
      await Promise.all([one.close(), two.close()])
    }
  })
})
