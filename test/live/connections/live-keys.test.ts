import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { deleteKey } from '../../../src/storage/accounts/keys.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { speech, waitForJob } from '../../support/live/sessions/live-session-jobs.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

/** A session that was made with a key of its own, and a client in it that has sent something. */
async function openWith(options: { expiresAt?: number } = {}) {
  const { db } = server.app.storage
  const { key } = await generateKey(db, { account: 'test', ...options })
  const { id, url } = await openSession({ ...server, key })
  const client = await connect(url)
  client.send(speech)
  await client.waitForType('audio_chunk')
  return { id, url, client, revoke: () => deleteKey(db, key.slice(0, 'steno_'.length + 8)) }
}

test('revoking a key ends its sessions and keeps their results', async () => {
  const { id, url, client, revoke } = await openWith()
  const other = await openWith()
  assert.ok(await revoke())
  await server.app.live.endRevoked()
  assert.equal((await client.closed).code, 4401)
  assert.equal((await (await connect(url)).closed).code, 4401)
  const { result } = await waitForJob(id, ({ status }) => status === 'done', server)
  assert.ok(result)
  // One whose key is still there goes on.
  other.client.stop()
  assert.equal((await other.client.closed).code, 1000)
})

test('a token is invalid once its key is revoked, even before the first connection', async () => {
  const { db } = server.app.storage
  const { key } = await generateKey(db, { account: 'test' })
  const { url } = await openSession({ ...server, key })
  assert.ok(await deleteKey(db, key.slice(0, 'steno_'.length + 8)))
  assert.equal((await (await connect(url)).closed).code, 4401)
})
