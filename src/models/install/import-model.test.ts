import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import type { CatalogModel } from '../catalog.ts'
import { findModels } from './import-model.ts'

const sha256 = createHash('sha256').update('weights').digest('hex')
const model = { id: 'small', files: [{ sha256, bytes: 7 }] } as unknown as CatalogModel

test('folders and files that may not be read are left out of a search', {
  skip: process.platform === 'win32' && 'needs permissions',
}, async (t) => {
  const source = await makeFolder(t)
  chmodSync(source, 0o755)
  for (const name of ['a', 'b']) mkdirSync(join(source, name))
  for (const name of ['closed', 'b/weights']) writeFileSync(join(source, name), 'weights')
  for (const name of ['a', 'closed']) chmodSync(join(source, name), 0)
  const leftOut: string[] = []
  const onUnreadable = (path: string) => void leftOut.push(basename(path))
  const { signal } = new AbortController()
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid!(65_534) // Root may read everything.
  try {
    const [found] = await findModels(source, { catalog: [model], onUnreadable, signal })
    assert.deepEqual(found!.pathsByHash, new Map([[sha256, join(source, 'b/weights')]]))
  } finally {
    if (isRoot) process.seteuid!(0)
  }
  assert.deepEqual(leftOut.sort(), ['a', 'closed'])
})

test('a file shared by several models identifies none of them', async (t) => {
  const source = await makeFolder(t)
  writeFileSync(join(source, 'weights'), 'weights')
  const { signal } = new AbortController()
  const catalog = [model, { ...model, id: 'other' }]
  assert.deepEqual(await findModels(source, { catalog, onUnreadable() {}, signal }), [])
})
