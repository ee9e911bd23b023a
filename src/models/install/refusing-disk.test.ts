import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type FileHandle, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startModelServer } from '../../../test/support/asr/model-server.ts'
import type { CatalogModel } from '../catalog.ts'
import { pullModel } from '../pull.ts'
import { storeFolder } from './installed-models.ts'

type WriteArguments = [bytes: Uint8Array, at: number, length: number, position: number]

async function fileHandlePrototype(): Promise<FileHandle> {
  await using file = await open(import.meta.filename)
  return Object.getPrototypeOf(file)
}

const weights = Buffer.alloc(300_000, 'weights')
const model: CatalogModel = {
  id: 'small-model',
  kind: 'recognition',
  engine: 'parakeet',
  languages: ['en'],
  license: 'MIT',
  memoryBytes: 1e9,
  summary: 'for tests',
  revision: 'r1',
  files: [
    {
      url: 'https://huggingface.co/owner/weights.onnx',
      bytes: weights.length,
      sha256: createHash('sha256').update(weights).digest('hex'),
      path: 'weights.onnx',
    },
  ],
}

async function preparePull(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-models-'))
  const server = await startModelServer()
  server.files.set('/owner/weights.onnx', weights)
  t.after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })
  const pull = () => {
    return pullModel(folder, model, {
      sources: { mirror: server.url, hubEndpoint: 'https://huggingface.co', hubToken: undefined },
      limits: { stallMs: 10_000, minBytes: 1000, tries: 3, pauseMs: 5 },
      conversions: { whisper: async () => {} },
      signal: AbortSignal.timeout(60_000),
      onStep: () => {},
      onRetry: () => {},
    })
  }
  return {
    pull,
    fileHandles: await fileHandlePrototype(),
    file: join(storeFolder(folder), model.id, 'weights.onnx'),
  }
}

test('a disk that refuses a download is reported as such, not as a fault of the server', async (t) => {
  const { pull, fileHandles } = await preparePull(t)
  const codes = [
    ['ENOSPC', 'the disk is full; free some space'],
    ['EROFS', 'the file system is read-only; make it writable'],
  ] as const
  for (const [code, text] of codes) {
    const failing = t.mock.method(fileHandles, 'write', async () => {
      throw Object.assign(new Error(`${code}: message, write`), { code, syscall: 'write' })
    })
    await assert.rejects(pull(), new RegExp(`^Error: Cannot write to \\S+: ${text}`))
    failing.mock.restore()
  }
  assert.equal(await pull(), true)
})

test('a disk that takes a part of each write gets whole files', async (t) => {
  const { pull, fileHandles, file } = await preparePull(t)
  const { write } = fileHandles
  t.mock.method(fileHandles, 'write', function (this: FileHandle, ...args: WriteArguments) {
    const [bytes, at, length, position] = args
    return write.apply(this, [bytes, at, Math.min(length, 1000), position] as never)
  })
  assert.equal(await pull(), true)
  assert.ok((await readFile(file)).equals(weights))
})
