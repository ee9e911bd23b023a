/** The audit log, over the real server and the command. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sha256 } from '../../../src/api/auth/check-key.ts'
import { insertKey } from '../../../src/storage/accounts/keys.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { runHere } from '../../support/cli/run-here.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { kill, startChild } from '../../support/server/child-server.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

type Entry = {
  action: string
  source: string
  subject: string | null
  key: string | null
  address: string | null
  details: { user?: string; settings?: Record<string, string> }
}
type List = { items: Entry[]; next: string | null }

let server: TestServer
before(async () => {
  server = await startServer()
  const key = { account: 'other', createdAt: 1, scopes: ['admin'] as const }
  const hash = sha256('admin').toString('hex')
  await insertKey(server.app.storage.db, { ...key, hash, prefix: 'st_admin' })
})
after(() => server.close())

function audit(query = '', key = 'admin') {
  return call<List>({ ...server, key }, `/v2/audit?${query}`)
}

test('the audit log lists who deleted jobs and made or revoked keys, for admin keys', async () => {
  const json = { audio_url: await upload(server, createToneWav(1)) }
  const { body: job } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  await call(server, `/v2/pre-recorded/${job.id}`, { method: 'DELETE' })
  const env = { STENO_DATA_DIR: server.folder }
  const made = await runHere(['keys', 'create', '--scopes', 'read'], env)
  const id = made.stdout.slice(0, 14)
  await runHere(['keys', 'revoke', id], env)

  const { body } = await audit(`subject=${job.id}`)
  const [deleted] = body.items
  assert.deepEqual(
    [deleted!.action, deleted!.source, deleted!.key, deleted!.address],
    ['job.deleted', 'api', 'settings-1', '127.0.0.1'],
  )
  const keys = (await audit(`subject=${id}`)).body.items
  assert.deepEqual(
    keys.map(({ action, source }) => [action, source]),
    ['key.revoked', 'key.created'].map((action) => [action, 'command']),
  )
  assert.ok(keys[0]!.details.user)
  const all = (await audit()).body.items.length
  const first = (await audit('limit=2')).body
  const rest = await call<List>({ ...server, key: 'admin' }, first.next!)
  assert.equal(first.items.length + rest.body.items.length, Math.min(all, 4))
  assert.equal((await audit('action=nothing')).status, 400)
  assert.equal((await audit('', server.key)).status, 403)

  const shown = await runHere(['audit', '--subject', job.id], env)
  assert.match(shown.stdout, /^time +action +account +subject +by +key +address\n/)
  assert.match(shown.stdout, /job\.deleted +test +\S{36} +api +settings-1 +127\.0\.0\.1\n$/)
  const wrong = await runHere(['audit', '--action', 'x'], env)
  assert.deepEqual([wrong.code, /--action must be some of/.test(wrong.stderr)], [2, true])
})

test('the audit log lists a server start with its settings and no secrets', async (t) => {
  const folder = await makeFolder(t)
  const child = (await startChild(t, folder))!
  const env = { STENO_DATA_DIR: folder }
  const { stdout } = await runHere(['audit', '--json', '--action', 'server.started'], env)
  await kill(child)
  const [start] = JSON.parse(stdout) as Entry[]
  assert.equal(start!.source, 'server')
  const { STENO_PORT, STENO_API_KEYS } = start!.details.settings!
  assert.deepEqual([STENO_PORT, STENO_API_KEYS], ['0', '(hidden)'])
  assert.ok(!stdout.includes(child.key))
})
