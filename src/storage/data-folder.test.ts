import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../test/test-storage.ts'
import { makeDataFolder } from './data-folder.ts'

test('the data folder is made with those above it, for its owner only, and may be there already', async (t) => {
  const folder = join(await makeFolder(t), 'a', 'b')
  await makeDataFolder(folder)
  await makeDataFolder(folder)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
})

test('where no folder can be made the attempt ends', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  await assert.rejects(makeDataFolder('/proc/steno/data'), { code: 'ENOENT' })
})
