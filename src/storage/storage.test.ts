import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeFolder, openFolder } from '../../test/support/storage/test-storage.ts'

test('unfinished uploads of a dead process are removed after a minute', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const folder = await makeFolder(t)
  const storage = await openFolder(folder)
  const unfinished = join(folder, 'objects', 'unfinished')
  await writeFile(join(unfinished, 'dead.upload'), 'sound')
  t.mock.timers.tick(60_000)
  while ((await readdir(unfinished)).length > 0) await nextTurn()
  assert.deepEqual(await readdir(unfinished), [])
  await storage.close()
})
