import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { addFile, addJob } from '../../../../test/support/jobs/test-jobs.ts'
import {
  addLiveJob,
  beginNewLiveJob,
} from '../../../../test/support/live/sessions/test-live-jobs.ts'
import {
  makeFolder,
  openFolder,
  openTestStorage,
} from '../../../../test/support/storage/test-storage.ts'
import { finishLiveJob } from '../../live/live-jobs.ts'
import { objectPath } from '../disk/disk-objects.ts'
import type { ObjectStore } from '../object-store.ts'
import { removeOrphanObjects } from './orphan-objects.ts'
import { type Orphans, openOrphans } from './orphans.ts'

/** Stores an object as a write would, but without waiting for the disk. */
async function store(folder: string, id: string = randomUUID()): Promise<string> {
  const path = objectPath(join(folder, 'objects'), id)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'x')
  return id
}

async function count(objects: ObjectStore): Promise<number> {
  return (await Array.fromAsync(objects.list())).flat().length
}

test('the start does not wait for orphans, and keeps newly stored objects', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  for (let n = 0; n < 300; n++) await store(folder)
  await first.close()

  const second = await openFolder(folder)
  t.after(() => second.close())
  assert.ok((await count(second.objects)) > 0, 'it was open before they were gone')
  const fresh = await store(folder)
  await second.swept
  assert.deepEqual(await Array.fromAsync(second.objects.list()), [[fresh]])
})

test('closing leaves remaining orphans to the next start', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  for (let n = 0; n < 300; n++) await store(folder)
  await first.close()
  const second = await openFolder(folder)
  await second.close()
  assert.ok((await count(second.objects)) > 0)
  const third = await openFolder(folder)
  t.after(() => third.close())
  await third.swept
  assert.equal(await count(third.objects), 0)
})

test('an unfinished fetch of a killed server is moved aside before a new one', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  await addJob(first.db)
  const row = await first.db.sql.selectFrom('jobs').select('file_id').executeTakeFirstOrThrow()
  const id = await store(folder, row.file_id!)
  await first.close()

  const second = await openFolder(folder)
  t.after(() => second.close())
  await assert.rejects(second.objects.check(id), { code: 'file_not_found' })
  assert.deepEqual(await Array.fromAsync(second.orphans!.list()), [[id]])
  await store(folder, id)
  await second.swept
  await second.objects.check(id)
})

test('an unfinished session recording is moved aside before a new one', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  await addLiveJob(first.db)
  await beginNewLiveJob(first.db)
  const jobs = await first.db.sql.selectFrom('jobs').select(['file_id', 'status']).execute()
  assert.deepEqual(jobs.map(({ status }) => status).sort(), ['processing', 'queued'])
  for (const { file_id } of jobs) await store(folder, file_id!)
  await first.close()

  const second = await openFolder(folder)
  t.after(() => second.close())
  assert.equal(await count(second.objects), 0)
  for (const { file_id } of jobs) await store(folder, file_id!)
  await second.swept
  assert.equal(await count(second.objects), 2)
})

test('the recording of an ended session is kept', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  const { lease } = await beginNewLiveJob(first.db)
  const row = await first.db.sql.selectFrom('jobs').select('file_id').executeTakeFirstOrThrow()
  const id = await store(folder, row.file_id!)
  const result = { result: '{}', result_object: null, result_size: null }
  const file = { size: 1, duration: 0, channels: 1 }
  assert.ok(await finishLiveJob(first.db, lease, { result, file, at: 2000 }))
  await first.close()

  const second = await openFolder(folder)
  t.after(() => second.close())
  await second.swept
  await second.objects.check(id)
})

test('an object deleted while it is moved aside is skipped', async (t) => {
  const folder = await makeFolder(t)
  const { objects, close } = await openFolder(folder)
  t.after(close)
  const id = await store(folder)
  const orphans = openOrphans(join(folder, 'orphans'), {
    ...objects,
    async openLocalCopy(id, options) {
      const file = await objects.openLocalCopy(id, options)
      await objects.delete(id)
      return file
    },
  })
  await orphans.add(id, { signal: new AbortController().signal })
  assert.deepEqual(await Array.fromAsync(orphans.list()), [])
})

test('objects unknown to a restored database return with the newer one', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  const id = await addFile(first.db)
  await store(folder, id)
  const row = await first.db.sql.selectFrom('files').selectAll().executeTakeFirstOrThrow()
  await first.db.sql.deleteFrom('files').execute()
  await first.close()

  const restored = await openFolder(folder)
  await restored.swept
  assert.equal(await count(restored.objects), 0)
  assert.equal(await readFile(join(folder, 'orphans', id), 'utf8'), 'x')
  await restored.db.sql.insertInto('files').values(row).execute()
  await restored.close()

  const newer = await openFolder(folder)
  t.after(() => newer.close())
  await newer.objects.check(id)
  assert.deepEqual(await Array.fromAsync(newer.orphans!.list()), [])
})

test('orphans expire counting from when they were moved aside', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  const id = await store(folder)
  await utimes(objectPath(join(folder, 'objects'), id), 1, 1)
  await first.close()
  const second = await openFolder(folder)
  t.after(() => second.close())
  await second.swept
  const { signal } = new AbortController()
  assert.equal(await second.orphans!.deleteBefore(Date.now() - 60_000, { signal }), 0)
  assert.equal(await second.orphans!.deleteBefore(Date.now() + 60_000, { signal }), 1)
  assert.deepEqual(await readdir(join(folder, 'orphans')), [])
})

test('without kept orphans unreferenced objects are deleted', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  await store(folder)
  await first.close()
  const second = await openFolder(folder, { keepOrphans: false })
  t.after(() => second.close())
  await second.swept
  assert.equal(await count(second.objects), 0)
  await assert.rejects(readdir(join(folder, 'orphans')), { code: 'ENOENT' })
})

test('an original replaced by its redacted recording is deleted at the start', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  const fileId = await addFile(first.db)
  await addJob(first.db, { fileId })
  await store(folder, fileId)
  await first.db.sql.deleteFrom('files').execute()
  await first.db.sql.updateTable('jobs').set({ redacted_object: randomUUID() }).execute()
  await first.close()
  const second = await openFolder(folder)
  t.after(() => second.close())
  await second.swept
  assert.equal(await count(second.objects), 0)
  assert.deepEqual(await Array.fromAsync(second.orphans!.list()), [])
})

test('an object that gets a row while it is moved is moved back', async (t) => {
  const { db, orphans, folder } = await openTestStorage(t)
  const id = await addFile(db)
  await store(folder, id)
  const row = await db.sql.selectFrom('files').selectAll().executeTakeFirstOrThrow()
  await db.sql.deleteFrom('files').execute()
  const slow: Orphans = {
    ...orphans!,
    async add(id, options) {
      await db.sql.insertInto('files').values(row).execute()
      await orphans!.add(id, options)
    },
  }
  const { signal } = new AbortController()
  await removeOrphanObjects(db, [[id]], { orphans: slow, before: undefined, signal })
  assert.deepEqual(await Array.fromAsync(db.objects.list()), [[id]])
})
