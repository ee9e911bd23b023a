import assert from 'node:assert/strict'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneChunk } from '../../test/support/audio/fake-media.ts'
import { addFile, addJob } from '../../test/support/jobs/test-jobs.ts'
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

test('a start without any of the known recordings is an error in the log', async (t) => {
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
  const id = await addFile(storage.db)
  const limits = { maxBytes: 5, signal: t.signal }
  await storage.objects.write(id, oneChunk(Buffer.from('sound')), limits)
  await storage.close()
  assert.deepEqual(await errorsOfStart(), [])
  await rm(join(folder, 'objects'), { recursive: true })
  const emptyFolder = 'the folder of all recordings is empty'
  assert.deepEqual(await errorsOfStart(), [emptyFolder])
  // The first start has created the folder; an unmounted disk leaves one, too.
  assert.deepEqual(await errorsOfStart(), [emptyFolder])
})

test('a start without objects is normal if jobs no longer need their recordings', async (t) => {
  const folder = await makeFolder(t)
  const storage = await openFolder(folder)
  await addJob(storage.db, { fileId: await addFile(storage.db) })
  await storage.db.sql.updateTable('jobs').set({ zero_retention: 1, completed_at: 2000 }).execute()
  await storage.close()
  const { log, lines } = captureLog()
  await (await openFolder(folder, { log })).close()
  assert.deepEqual(
    lines.filter(({ level }) => level === 50),
    [],
  )
})
