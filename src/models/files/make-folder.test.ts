import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isWriteRefusal, makeFolder } from './make-folder.ts'

test('makeFolder creates a folder with its parents', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(root, { recursive: true }))
  const folder = join(root, 'a', 'b', 'c')
  await makeFolder(folder)
  await makeFolder(folder)
  assert.ok((await stat(folder)).isDirectory())
  await writeFile(join(root, 'file'), '')
  await assert.rejects(makeFolder(join(root, 'file', 'x')), /Cannot write to .*STENO_MODELS_DIR/)
  await Promise.all([1, 2, 3].map(() => makeFolder(join(root, 'd', 'e'))))
})

test('makeFolder fails at once where nothing can be created', {
  skip: process.platform !== 'linux' && 'Linux only',
}, async () => {
  await assert.rejects(makeFolder('/proc/steno/store'), /ENOENT/)
})

test('a connection that is denied is no refusal to write', () => {
  const error = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall })
  assert.equal(isWriteRefusal(error('EACCES', 'open')), true)
  assert.equal(isWriteRefusal(error('EDQUOT', 'write')), true)
  assert.equal(isWriteRefusal(error('EACCES', 'connect')), false)
  assert.equal(isWriteRefusal(error('EIO', 'write')), false)
})
