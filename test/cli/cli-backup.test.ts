/** A backup of a server that works, and a server on what is restored from it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { insertWebhook } from '../../src/storage/deliveries/endpoints/endpoints.ts'
import { createFakeSpeechEngine } from '../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../support/audio/recordings.ts'
import { runHere } from '../support/cli/run-here.ts'
import { call, upload } from '../support/net/http-client.ts'
import { sharedParts } from '../support/server/shared-parts.ts'
import { startServer } from '../support/server/start-server.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

type Job = { id: string; status: string; file: { id: string } }
type List = { items: Job[] }
const LIST = '/v2/pre-recorded?limit=100'

test('a backup taken while jobs run restores jobs, results and recordings', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const submit = async (seconds: number) => {
    const audio_url = await upload(server, createToneWav(seconds))
    const json = { audio_url, subtitles: true }
    return (await call<Job>(server, '/v2/pre-recorded', { json })).body.id
  }
  const webhook = { account: 'test', events: null, source: 'cli', name: 'hook' } as const
  const url = 'http://127.0.0.1:1/hook'
  await insertWebhook(server.app.storage.db, { ...webhook, url, createdAt: 1 })
  const env = { STENO_DATA_DIR: server.folder }
  await runHere(['keys', 'create', '--name', 'k'], env)
  const early = await submit(2)
  await server.app.jobs.idle()

  const target = join(await makeFolder(t), 'backups')
  const key = join(await makeFolder(t), 'key')
  await writeFile(key, randomBytes(32))
  const given = ['--key-file', key]
  const [running, backup] = await Promise.all([
    Promise.all([3, 4, 5].map(submit)),
    runHere(['backup', target, ...given], env),
  ])
  assert.equal(backup.code, 0, backup.stderr)
  assert.match(backup.stderr, /Snapshot \S+Z: \d+ recordings and results, .* were new/)
  await server.app.jobs.idle()
  const again = await runHere(['backup', target, '--keep', '1', ...given], env)
  assert.equal(again.code, 0, again.stderr)
  const { stdout } = await runHere(['backup', target, '--list'])
  assert.equal(stdout.trim().split('\n').length, 1)
  const check = await runHere(['backup', target, '--check', ...given])
  assert.match(check.stderr, /1 snapshots, .*: all as written/)
  assert.equal(check.code, 0)

  const folder = join(await makeFolder(t), 'restored')
  const restored = await runHere(['restore', target, ...given], { STENO_DATA_DIR: folder })
  assert.equal(restored.code, 0, restored.stderr)
  const refused = await runHere(['restore', target, ...given], { STENO_DATA_DIR: folder })
  assert.deepEqual([refused.code, /it is not empty/.test(refused.stderr)], [1, true])

  // Before a server sends deliveries from there.
  for (const command of ['keys', 'webhooks']) {
    const [original, copy] = await Promise.all(
      [server.folder, folder].map((one) => runHere([command], { STENO_DATA_DIR: one })),
    )
    assert.match(original!.stdout, /hook|k /)
    assert.equal(copy!.stdout, original!.stdout)
  }

  const config = readConfig({ STENO_DATA_DIR: folder, STENO_API_KEYS: `test:${server.key}` })
  const speech = createFakeSpeechEngine('another text')
  const app = await createApp(config, { speech, log: createLog('silent'), ...sharedParts() })
  t.after(() => app.close())
  const other = { url: await app.http.listen({ host: '127.0.0.1', port: 0 }), key: server.key }
  const lists = await Promise.all([server, other].map((one) => call<List>(one, LIST)))
  const [ours, theirs] = lists.map(({ body }) => JSON.stringify(body.items))
  assert.equal(theirs, ours)
  const { items } = lists[0]!.body
  assert.deepEqual(items.map(({ id }) => id).sort(), [early, ...running].sort())
  assert.ok(items.every(({ status }) => status === 'done'))
  for (const { id } of items) {
    const sounds = [server, other].map((one) => call<string>(one, `/v2/pre-recorded/${id}/file`))
    const [original, copy] = await Promise.all(sounds)
    assert.equal(copy!.status, 200)
    assert.equal(copy!.body, original!.body)
  }
})

test('backup rejects remote databases and object stores and names their tools', async () => {
  const env = { STENO_DATABASE_URL: 'postgres://steno@127.0.0.1/steno' }
  const { code, stderr } = await runHere(['backup', '/tmp/nowhere'], env)
  assert.equal(code, 2)
  assert.match(
    stderr,
    /cannot back up with STENO_DATABASE_URL: first dump the database \(pg_dump\)/,
  )
})
