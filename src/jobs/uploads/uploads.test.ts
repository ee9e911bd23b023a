import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { readConfig } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import { createResolver } from '../../net/dns/resolver.ts'
import { storeUpload } from './uploads.ts'

test('an upload whose decoders were killed can be sent again later', async (t) => {
  const { db, space } = await openTestStorage(t)
  const failed = () => Promise.reject(new AppError('engine_failed', 'the decoder was killed'))
  const media = { probe: failed, decode: failed }
  const deps = { db, space, media, resolve: createResolver(), config: readConfig({}) }
  async function* body() {
    yield Buffer.from('sound')
  }
  const { signal } = new AbortController()
  await assert.rejects(storeUpload(deps, 'test', { filename: null, body: body(), signal }), {
    status: 503,
    message: 'Cannot reach a working recognizer: the decoder was killed',
    retryAfter: 10,
  })
})

test('an upload is refused if other nodes moved its recording away meanwhile', async (t) => {
  const { db, space } = await openTestStorage(t)
  const probe = async () => {
    // They do so when this node was paused for so long that they considered it dead.
    for (const id of (await Array.fromAsync(db.objects.list())).flat()) await db.objects.delete(id)
    return { extension: 'wav', codec: 'pcm_s16le', sampleRate: 8000, duration: 1, channels: 1 }
  }
  const media = { probe, decode: () => Promise.reject(new Error('unused')) }
  const shared = { ...db, isShared: true }
  const deps = { db: shared, space, media, resolve: createResolver(), config: readConfig({}) }
  async function* body() {
    yield Buffer.from('sound')
  }
  const { signal } = new AbortController()
  await assert.rejects(storeUpload(deps, 'test', { filename: null, body: body(), signal }), {
    code: 'object_store_unavailable',
  })
  assert.deepEqual(await db.sql.selectFrom('files').selectAll().execute(), [])
})
