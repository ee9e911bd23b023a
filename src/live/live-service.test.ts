import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createFakeSpeechEngine } from '../../test/support/asr/fake-speech-engine.ts'
import { makeFolder, openTestStorage } from '../../test/support/storage/test-storage.ts'
import { readConfig } from '../config/config.ts'
import { createLog } from '../observability/log.ts'
import { type Db, inTransaction } from '../storage/database/db.ts'
import { findJob } from '../storage/jobs/jobs.ts'
import { beginLiveJob } from '../storage/live/live-jobs.ts'
import { LiveText } from '../text/live/live-text.ts'
import { Connection } from './connection/connection.ts'
import { LiveService } from './live-service.ts'

const account = 'acme'
const TIMEOUT_S = 5
const params = {
  encoding: 'wav/pcm',
  bit_depth: 16,
  sample_rate: 16_000,
  channels: 1,
  endpointing: 0.05,
  maximum_duration_without_endpointing: 5,
  language_config: { languages: ['en'], code_switching: false },
  pre_processing: { audio_enhancer: false, speech_threshold: 0.6 },
  realtime_processing: {},
  post_processing: {},
  messages_config: {},
  callback: false,
}

const log = createLog('silent')
const liveText = new LiveText({ log })

/**
 * Opens a live service over a store of its own, with a session to which no client has connected.
 */
async function openLive(t: TestContext) {
  const storage = await openTestStorage(t)
  const { db, folder } = storage
  const config = readConfig({
    STENO_DATA_DIR: folder,
    STENO_LIVE_CONNECT_TIMEOUT_S: String(TIMEOUT_S),
  })
  const speech = createFakeSpeechEngine('hello')
  const live = new LiveService({ config, storage, speech, liveText, log })
  t.after(() => live.drain())
  const { id, token } = await live.create(account, { params, customMetadata: null })
  const statusOf = async () => (await findJob(db, { id, account }))?.status
  return { db, live, id, token, storage, speech, statusOf }
}

test('a session taken over by another node stops in the first one at once', async (t) => {
  const { db, id, live, token, storage, speech, statusOf } = await openLive(t)
  const leaseOf = async () => {
    const columns = ['lease_epoch', 'lease_until'] as const
    return await db.sql.selectFrom('jobs').select(columns).where('id', '=', id).executeTakeFirst()
  }
  const first = await live.connect(token)
  assert.ok(first instanceof Connection)
  await live.renewLeases()
  const { lease_until: until } = (await leaseOf())!
  assert.ok(until !== null && until > Date.now())
  assert.equal(first.closeCode, undefined)

  // The other server has a folder of its own, as on another machine.
  const config = readConfig({ STENO_DATA_DIR: await makeFolder(t) })
  const other = new LiveService({ config, storage, speech, liveText, log })
  t.after(() => other.drain())
  const second = await other.connect(token)
  assert.ok(second instanceof Connection)
  await live.renewLeases()
  assert.equal(first.closeCode, 1012)
  await waitFor(() => live.states.disconnected + live.states.connected === 0)
  assert.equal((await leaseOf())?.lease_epoch, 2)
  assert.ok(existsSync(join(storage.folder, 'live', id)), 'the folder may be the other one')

  await other.renewLeases()
  assert.equal(second.closeCode, undefined)
  second.receive(Buffer.from('{"type":"stop_recording"}'), false)
  await waitFor(async () => (await statusOf()) === 'done')
})

/** Waits until a condition holds. */
async function waitFor(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(5)
}

/** Waits for the transactions that have begun. */
function settled(db: Db): Promise<void> {
  return inTransaction(db, async () => {})
}

test('a session whose client does not connect in time fails', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { db, live, token, statusOf } = await openLive(t)
  t.mock.timers.tick(TIMEOUT_S * 1000)
  await settled(db)
  assert.equal(await statusOf(), 'error')
  assert.equal(await live.connect(token), 4410)
})

test('a session whose client connects at the last moment does not fail', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { db, id, statusOf } = await openLive(t)
  assert.ok(await beginLiveJob(db, id, { owner: 'server', at: Date.now() }))
  t.mock.timers.tick(TIMEOUT_S * 1000)
  await settled(db)
  assert.equal(await statusOf(), 'processing')
})

test('a client whose session ends while it connects gets 4410', async (t) => {
  const { db, id, live, token, statusOf } = await openLive(t)
  let connected: Promise<unknown> | undefined
  await inTransaction(db, async (tx) => {
    connected = live.connect(token)
    for (let reads = 0; reads < 4; reads++) await statusOf()
    await tx.sql.updateTable('jobs').set({ status: 'error' }).where('id', '=', id).execute()
  })
  assert.equal(await connected, 4410)
})

test('a session canceled while its disk fails leaves no audio behind', async (t) => {
  const { live, id, token, storage } = await openLive(t)
  const connection = await live.connect(token)
  assert.ok(connection instanceof Connection)
  const folder = join(storage.folder, 'live', id)
  assert.ok(existsSync(folder))
  const handle = await open(join(folder, 'log'))
  const sync = t.mock.method(Object.getPrototypeOf(handle), 'datasync', async () => {
    throw new Error('EIO')
  })
  await handle.close()
  connection.receive(Buffer.alloc(3200), true)
  await waitFor(() => connection.closeCode === 1011)
  sync.mock.restore()
  await live.cancel({ id, account })
  await waitFor(() => !live.runs(id))
  assert.equal(existsSync(folder), false)
})

test('creating a session starts the text threads for its add-ons', async (t) => {
  const prepare = t.mock.method(liveText, 'prepare', () => {})
  const { live } = await openLive(t)
  const realtime_processing = { named_entity_recognition: true }
  const language_config = { languages: ['en'], code_switching: false }
  await live.create(account, {
    params: { ...params, language_config, realtime_processing },
    customMetadata: null,
  })
  const [requested] = prepare.mock.calls.at(-1)!.arguments
  assert.deepEqual(requested, { params: realtime_processing, language: 'en' })
})

test('without a live engine creating a session fails with a retry time', async (t) => {
  const storage = await openTestStorage(t)
  const { folder } = storage
  const config = readConfig({ STENO_DATA_DIR: folder })
  const speech = { ...createFakeSpeechEngine('hello'), live: undefined }
  const live = new LiveService({ config, storage, speech, liveText, log })
  await assert.rejects(live.create(account, { params, customMetadata: null }), {
    code: 'live_unavailable',
    retryAfter: 60,
  })
})
