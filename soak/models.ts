import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type CatalogModel, readCatalog } from '../src/models/catalog.ts'
import { installModel } from '../src/models/install/install.ts'
import { type ModelServer, refuse, sendPart } from '../test/support/asr/model-server.ts'
import { call } from '../test/support/net/http-client.ts'
import type { ChildServer } from '../test/support/server/child-server.ts'

/** The folder and the mirror of models. */
export type ModelTarget = { folder: string; mirror: ModelServer; random: () => number }

type Model = {
  name: string
  state: string
  pull: object | null
  failure: string | null
}

const PULLED = 'whisper-tiny'
const content = Buffer.from('weights of nothing')
const model: CatalogModel = {
  id: 'own',
  kind: 'recognition',
  engine: 'parakeet',
  languages: ['de'],
  license: 'MIT',
  memoryBytes: 100,
  summary: 'for the soak',
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

/**
 * Checks that a pulled model is listed, and not after its removal, and that a pull fails with a
 * message and installs nothing when the mirror refuses, breaks off or sends other content.
 */
export async function checkModels(server: ChildServer, target: ModelTarget): Promise<void> {
  const models = async () => (await call<{ items: Model[] }>(server, '/v2/models')).body.items
  const find = async (name: string) => (await models()).find((model) => model.name === name)
  await installOwn(target.folder)
  assert.equal((await find('own'))?.state, 'installed')
  const removed = await call(server, '/v2/models/own', { method: 'DELETE' })
  assert.equal(removed.status, 204)
  assert.equal(await find('own'), undefined)

  const { files } = readCatalog().find(({ id }) => id === PULLED)!
  for (const { url } of files) target.mirror.files.set(new URL(url).pathname, content)
  target.mirror.next.length = 0
  const dice = target.random()
  if (dice < 0.3) target.mirror.next.push(refuse(403))
  else if (dice < 0.6) target.mirror.next.push(sendPart(5, 'cut'))
  const pull = await call(server, `/v2/models/${PULLED}/pull`, { method: 'POST' })
  assert.equal(pull.status, 202, JSON.stringify(pull.body))
  while ((await find(PULLED))?.pull) await delay(100)
  const failed = await find(PULLED)
  assert.equal(failed?.state, 'available')
  assert.ok(failed.failure, 'a pull that failed says why')
}

async function installOwn(folder: string): Promise<void> {
  const obtain = (downloads: string) => {
    return writeFile(join(downloads, model.files[0]!.sha256), content)
  }
  const { signal } = new AbortController()
  const conversions = { whisper: () => assert.fail('nothing to convert') }
  await installModel(folder, { model, obtain }, { conversions, signal, onStep() {} })
}
