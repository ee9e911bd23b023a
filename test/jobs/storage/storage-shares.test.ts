import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Disk } from '../../../src/storage/data-folder/disk.ts'
import { fakeRecording } from '../../support/audio/fake-media.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { openService } from '../../support/jobs/test-service.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'

const GB = 1e9
const { signal } = new AbortController()

/** A service on a disk whose free bytes can be set. */
async function openOnDisk(t: TestContext, env: Record<string, string> = {}) {
  const disk: Disk = { free: 50 * GB, size: 100 * GB }
  const service = await openService(t, { env, disk: async () => disk })
  await service.jobs.start()
  return { disk, service }
}

async function start(t: TestContext, env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ env })
  t.after(() => server.close())
  return server
}

async function metricOf(server: TestServer, name: string): Promise<number> {
  const { body } = await call<string>(server, '/metrics')
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1])
}

test('below the storage reserve new work is rejected, everything else continues', async (t) => {
  const server = await start(t)
  const audio_url = await upload(server, createToneWav(6))
  const json = { audio_url }
  const { body: job } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  assert.equal(await metricOf(server, 'steno_storage_low'), 0)
  assert.ok((await metricOf(server, 'steno_storage_held_bytes')) > createToneWav(6).length)

  // The space of a server is judged by its own disk: this reserve no disk has.
  const low = await start(t, { STENO_MIN_FREE_BYTES: String(Number.MAX_SAFE_INTEGER) })
  const form = new FormData()
  form.append('audio', new Blob([createToneWav(1)]), 'a.wav')
  const refusals: [string, object][] = [
    ['/v2/upload', { method: 'POST', body: form }],
    ['/v2/upload', { json: { audio_url: 'http://127.0.0.1:1/a.wav' } }],
    ['/v2/pre-recorded', { json: { audio_url: 'http://127.0.0.1:1/a.wav' } }],
    ['/v2/live', { json: {} }],
    ['/ready', {}],
  ]
  for (const [path, request] of refusals) {
    const { status, headers, body } = await call<ErrorBody>(low, path, request)
    assert.deepEqual([status, headers.get('x-error-code')], [503, 'storage_low'], path)
    assert.ok(Number(headers.get('retry-after')) >= 1)
    assert.match(body.message, /bytes are free, \d+ stay reserved/)
  }
  assert.equal((await call(low, '/health')).status, 200)
  assert.equal(await metricOf(low, 'steno_storage_low'), 1)
  const path = `/v2/pre-recorded/${job.id}`
  assert.equal((await call(server, path, { method: 'DELETE' })).status, 202)
})

test('an account beyond its storage share is rejected, another one is not', async (t) => {
  const server = await start(t, {
    STENO_ACCOUNT_MAX_BYTES: String(createToneWav(6).length + 10_000),
  })
  const audio_url = await upload(server, createToneWav(6))
  const form = () => {
    const form = new FormData()
    form.append('audio', new Blob([createToneWav(6)]), 'a.wav')
    return { method: 'POST', body: form }
  }
  const { status, headers, body } = await call<ErrorBody>(server, '/v2/upload', form())
  assert.deepEqual([status, headers.get('x-error-code')], [402, 'quota_exceeded'])
  assert.match(
    body.message,
    /^QuotaExceeded: .*it holds \d+ of \d+ bytes \(STENO_ACCOUNT_MAX_BYTES\)/,
  )
  const other = await call({ ...server, key: OTHER_KEY }, '/v2/upload', form())
  assert.equal(other.status, 200)

  // What it refused left nothing behind, so there is room for a job still, but not for many.
  const json = { audio_url, custom_vocabulary: true, custom_vocabulary_config: vocabulary() }
  let refused = 0
  for (let i = 0; i < 5; i++) {
    const { status } = await call(server, '/v2/pre-recorded', { json })
    if (status === 402) refused++
  }
  assert.ok(refused >= 1 && refused < 5, `${refused} of 5`)
})

/** Some 4 kB of parameters. */
function vocabulary() {
  return { vocabulary: Array.from({ length: 200 }, (_, i) => `word-number-${i}`) }
}

test('a job that does not fit decoded waits without using an attempt', async (t) => {
  const seconds = 4
  const disk: Disk = { free: 50 * GB, size: 100 * GB }
  let looks = 0
  const needed = seconds * 32_000
  const measure = async () => {
    // A quarter of the reserve stays untouched: it fits by the last byte, but only in the end.
    if (isAccepted) disk.free = 0.25 * GB + needed - (looks++ < 3 ? 1 : 0)
    return disk
  }
  let isAccepted = false
  const service = await openService(t, { disk: measure })
  const id = await service.submit({ seconds })
  isAccepted = true
  await service.jobs.start()
  assert.equal((await service.ended(id)).status, 'done')
  assert.ok(looks > 3)
  const row = await service.storage.db.sql
    .selectFrom('jobs')
    .select(['attempt', 'storage_wait_since as since'])
    .executeTakeFirstOrThrow()
  assert.equal(row.attempt, 1)
  assert.ok(row.since !== null)
})

test("an upload beyond the account's space is aborted and leaves nothing", async (t) => {
  const { service } = await openOnDisk(t, { STENO_ACCOUNT_MAX_BYTES: String(5_000_000) })
  let sent = 0
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      sent += 64 * 1024
      yield new Uint8Array(64 * 1024)
    }
  }
  const upload = { filename: 'long.wav', body: endless(), signal }
  await assert.rejects(service.jobs.service.upload('a', upload), { code: 'quota_exceeded' })
  assert.ok(sent < 5_000_000 + 3 * 1024 * 1024, `${sent} bytes were taken`)
  assert.deepEqual(await Array.fromAsync(service.storage.objects.list()), [])
  const small = { filename: 'a.wav', body: fakeRecording({ seconds: 4 }), signal }
  await service.jobs.service.upload('a', small)
})
