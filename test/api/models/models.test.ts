/** The models of a machine, over the real server, with a mirror that refuses. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sha256 } from '../../../src/api/auth/check-key.ts'
import { type CatalogModel, readCatalog } from '../../../src/models/catalog.ts'
import { installModel } from '../../../src/models/install/install.ts'
import { insertKey } from '../../../src/storage/accounts/keys.ts'
import { refuse, startModelServer } from '../../support/asr/model-server.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

type Model = {
  name: string
  state: string
  is_removable: boolean
  pull: { fraction: number } | null
  failure: string | null
}
type List = { items: Model[] }

const content = Buffer.from('weights')
const model: CatalogModel = {
  id: 'own',
  kind: 'recognition',
  engine: 'parakeet',
  languages: ['de'],
  license: 'MIT',
  memoryBytes: 100,
  summary: 'for tests',
  revision: 'r1',
  files: [
    {
      url: 'https://example.test/weights.onnx',
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      path: 'weights.onnx',
    },
  ],
}

async function install(folder: string): Promise<void> {
  const obtain = (downloads: string) => {
    return writeFile(join(downloads, model.files[0]!.sha256), content)
  }
  const { signal } = new AbortController()
  const conversions = { whisper: () => assert.fail('nothing to convert') }
  await installModel(folder, { model, obtain }, { conversions, signal, onStep() {} })
}

async function start(t: TestContext) {
  const folder = await makeFolder(t)
  await install(folder)
  const mirror = await startModelServer()
  t.after(() => mirror.close())
  const env = { STENO_MODELS_DIR: folder, STENO_MODELS_MIRROR: mirror.url }
  const server = await startServer({ env })
  t.after(() => server.close())
  const key = { account: 'operator', createdAt: 1, scopes: ['admin', 'read'] as const }
  const hash = sha256('admin').toString('hex')
  await insertKey(server.app.storage.db, { ...key, hash, prefix: 'st_admin' })
  const admin = { ...server, key: 'admin' }
  const find = async (name: string) => {
    const { body } = await call<List>(admin, '/v2/models')
    return body.items.find((model) => model.name === name)
  }
  return { server, admin, mirror, find }
}

test('only an admin key can list and remove installed models', async (t) => {
  const { server, admin, find } = await start(t)
  assert.equal((await call(server, '/v2/models')).status, 403)
  const remove = (name: string, by = admin) => {
    return call<ErrorBody>(by, `/v2/models/${name}`, { method: 'DELETE' })
  }
  assert.equal((await remove('own', server)).status, 403)
  assert.equal((await find('own'))?.state, 'installed')
  assert.equal((await remove('own')).status, 204)
  assert.equal(await find('own'), undefined)
  assert.equal((await remove('own')).status, 404)
  const required = (await find('moonshine-base'))!
  assert.equal(required.is_removable, false)
  assert.equal((await remove('moonshine-base')).status, 403)
  const { body } = await call<{ items: { action: string; subject: string }[] }>(admin, '/v2/audit')
  const [removed] = body.items.filter(({ action }) => action === 'model.removed')
  assert.equal(removed!.subject, 'own')
})

test('an admin key pulls a catalog model and sees its progress or failure', async (t) => {
  const { server, admin, mirror, find } = await start(t)
  const pull = (name: string, by = admin) => {
    return call<Model>(by, `/v2/models/${name}/pull`, { method: 'POST' })
  }
  assert.equal((await pull('whisper-tiny', server)).status, 403)
  assert.equal((await pull('nothing')).status, 404)
  const { files } = readCatalog().find(({ id }) => id === 'whisper-tiny')!
  for (const { url } of files) mirror.files.set(new URL(url).pathname, content)
  const arrived = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  mirror.next.push((response) => {
    arrived.resolve()
    void go.promise.then(() => refuse(403)(response, undefined as never))
  })
  const { status, body } = await pull('whisper-tiny')
  assert.deepEqual([status, body.state, body.pull?.fraction], [202, 'available', 0])
  await arrived.promise
  const busy = await call(admin, '/v2/models/whisper-tiny', { method: 'DELETE' })
  assert.equal(busy.status, 409)
  const gone = new AbortController()
  t.after(() => gone.abort())
  const events = await fetch(`${server.url}/v2/events`, {
    headers: { 'x-service-key': 'admin' },
    signal: gone.signal,
  })
  const texts = events.body!.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>
  let received = ''
  for await (const text of texts) {
    received += text
    if (received.includes('"status":"pulling"')) go.resolve()
    if (received.includes('"status":"failed"')) break
  }
  assert.match(
    received,
    /event: model\ndata: \{"name":"whisper-tiny","status":"pulling","fraction":0,/,
  )
  const failed = (await find('whisper-tiny'))!
  assert.equal(failed.pull, null)
  assert.match(failed.failure!, /403/)
})
