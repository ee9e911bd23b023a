import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import test from 'node:test'
import { addJob } from '../../test/test-jobs.ts'
import { addLiveJob, beginNewLiveJob } from '../../test/test-live-jobs.ts'
import { makeFolder } from '../../test/test-storage.ts'
import { createLog } from '../log.ts'
import { finishLiveJob } from './live-jobs.ts'
import type { Objects } from './objects.ts'
import { openStorage } from './storage.ts'

const log = createLog('silent')

async function store(objects: Objects, id: string = randomUUID()): Promise<string> {
  await mkdir(dirname(objects.path(id)), { recursive: true })
  await writeFile(objects.path(id), 'x')
  return id
}

async function count(objects: Objects): Promise<number> {
  return (await Array.fromAsync(objects.list())).flat().length
}

test('a start does not wait until lost objects are gone, and none goes that is stored meanwhile', async (t) => {
  const folder = await makeFolder(t)
  const first = await openStorage({ folder, log })
  for (let n = 0; n < 1000; n++) await store(first.objects)
  await first.close()

  const second = await openStorage({ folder, log })
  t.after(() => second.close())
  assert.ok((await count(second.objects)) > 0, 'it was open before they were gone')
  const fresh = await store(second.objects)
  await second.swept
  assert.deepEqual(await Array.fromAsync(second.objects.list()), [[fresh]])
})

test('a close does not wait for the rest, which the next start removes', async (t) => {
  const folder = await makeFolder(t)
  const first = await openStorage({ folder, log })
  for (let n = 0; n < 1000; n++) await store(first.objects)
  await first.close()
  const second = await openStorage({ folder, log })
  await second.close()
  assert.ok((await count(second.objects)) > 0)
  const third = await openStorage({ folder, log })
  t.after(() => third.close())
  await third.swept
  assert.equal(await count(third.objects), 0)
})

test('what a killed server had fetched for a job goes before the job can fetch it again', async (t) => {
  const folder = await makeFolder(t)
  const first = await openStorage({ folder, log })
  await addJob(first.db)
  const row = await first.db.sql.selectFrom('jobs').select('file_id').executeTakeFirstOrThrow()
  const id = await store(first.objects, row.file_id!)
  await first.close()

  const second = await openStorage({ folder, log })
  t.after(() => second.close())
  await assert.rejects(second.objects.check(id), { code: 'file_not_found' })
  await store(second.objects, id)
  await second.swept
  await second.objects.check(id)
})

test('the recording of a session that was cut off while it ended goes before it can be kept again', async (t) => {
  const folder = await makeFolder(t)
  const first = await openStorage({ folder, log })
  await addLiveJob(first.db)
  await beginNewLiveJob(first.db)
  const jobs = await first.db.sql.selectFrom('jobs').select(['file_id', 'status']).execute()
  assert.deepEqual(jobs.map(({ status }) => status).sort(), ['processing', 'queued'])
  for (const { file_id } of jobs) await store(first.objects, file_id!)
  await first.close()

  const second = await openStorage({ folder, log })
  t.after(() => second.close())
  assert.equal(await count(second.objects), 0)
  for (const { file_id } of jobs) await store(second.objects, file_id!)
  await second.swept
  assert.equal(await count(second.objects), 2)
})

test('the recording of a session that has ended stays', async (t) => {
  const folder = await makeFolder(t)
  const first = await openStorage({ folder, log })
  const { lease } = await beginNewLiveJob(first.db)
  const row = await first.db.sql.selectFrom('jobs').select('file_id').executeTakeFirstOrThrow()
  const id = await store(first.objects, row.file_id!)
  const result = { result: '{}', result_object: null, result_size: null }
  const file = { size: 1, duration: 0, channels: 1 }
  assert.ok(await finishLiveJob(first.db, lease, { result, file, at: 2000 }))
  await first.close()

  const second = await openStorage({ folder, log })
  t.after(() => second.close())
  await second.swept
  await second.objects.check(id)
})
