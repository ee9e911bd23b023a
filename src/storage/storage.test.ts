import assert from 'node:assert/strict'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { addFile } from '../../test/support/jobs/test-jobs.ts'
import { captureLog } from '../../test/support/server/captured-log.ts'
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

test('a start without the folder of the recordings is an error in the log', async (t) => {
  const folder = await makeFolder(t)
  const errorsOfStart = async () => {
    const { log, lines } = captureLog()
    const storage = await openFolder(folder, { log })
    await storage.close()
    return lines.filter(({ level }) => level === 50).map(({ msg }) => msg)
  }
  assert.deepEqual(await errorsOfStart(), [])
  await rm(join(folder, 'objects'), { recursive: true })
  assert.deepEqual(await errorsOfStart(), [], 'no recording is known')
  const storage = await openFolder(folder)
  await addFile(storage.db)
  await storage.close()
  assert.deepEqual(await errorsOfStart(), [])
  await rm(join(folder, 'objects'), { recursive: true })
  assert.deepEqual(await errorsOfStart(), ['the folder of all recordings was gone'])
})
