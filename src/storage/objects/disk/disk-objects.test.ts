import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { addJob, claim } from '../../../../test/support/jobs/test-jobs.ts'
import {
  bytesOf,
  testObjects,
} from '../../../../test/support/storage/objects/objects-conformance.ts'
import { makeFolder, openFolder } from '../../../../test/support/storage/test-storage.ts'
import type { Db } from '../../database/db.ts'
import { finishJob } from '../../jobs/finish-job.ts'
import { findJob } from '../../jobs/jobs.ts'
import type { JobResult } from '../../jobs/results.ts'
import { insertRecording } from '../../recordings/recordings.ts'
import { objectPath, openDiskObjects } from './disk-objects.ts'

const options = { maxBytes: 1000, signal: new AbortController().signal }

testObjects('objects on disk', async (t) => openDiskObjects(await makeFolder(t)))

test('a file is linked as an object without a copy', async (t) => {
  const folder = await makeFolder(t)
  const objects = await openDiskObjects(join(folder, 'objects'))
  const [id, file] = [randomUUID(), join(folder, 'file')]
  await writeFile(file, 'hello')
  await objects.adopt(id, file)
  const path = objectPath(join(folder, 'objects'), id)
  assert.equal((await stat(path)).ino, (await stat(file)).ino)
  await objects.adopt(id, file)
  assert.deepEqual(await readdir(join(folder, 'objects', 'unfinished')), [])
})

test('a file that cannot be linked is copied', {
  skip: !existsSync('/dev/shm') && 'needs a second file system',
}, async (t) => {
  const other = await mkdtemp('/dev/shm/steno-test-')
  t.after(() => rm(other, { recursive: true, force: true }))
  const file = join(other, 'file')
  await writeFile(file, 'hello')
  const folder = await makeFolder(t)
  const objects = await openDiskObjects(folder)
  const id = randomUUID()
  await objects.adopt(id, file)
  assert.equal(await text((await objects.read(id)).body), 'hello')
  assert.deepEqual(await readdir(join(folder, 'unfinished')), [])
})

test('a failed write leaves no unfinished file', async (t) => {
  const folder = await makeFolder(t)
  const objects = await openDiskObjects(folder)
  const limit = { ...options, maxBytes: 2 }
  await assert.rejects(objects.write(randomUUID(), bytesOf('ab', 'c'), limit))
  await assert.rejects(objects.adopt(randomUUID(), join(folder, 'missing')))
  assert.deepEqual(await readdir(join(folder, 'unfinished')), [])
})

async function addEndedJob(db: Db, result: JobResult): Promise<string> {
  await addJob(db)
  const job = (await claim(db))!
  await finishJob(db, job.lease, { result, at: 1 })
  return job.id
}

test('the start removes unfinished writes and unreferenced objects', async (t) => {
  const folder = await makeFolder(t)
  const [kept, lost] = [randomUUID(), randomUUID()]
  const first = await openFolder(folder)
  await first.objects.write(kept, bytesOf('kept'), options)
  await first.objects.write(lost, bytesOf('lost'), options)
  const rest = { filename: null, source: null, extension: 'wav', size: 4, duration: 1, channels: 1 }
  await insertRecording(first.db, { id: kept, account: 'acme', ...rest, createdAt: 1 })
  const job = await addEndedJob(first.db, { text: 'x'.repeat(300_000) })
  await first.close()
  const unfinished = join(folder, 'objects', 'unfinished')
  await mkdir(unfinished, { recursive: true })
  await writeFile(join(unfinished, 'half'), 'x')

  const second = await openFolder(folder)
  t.after(() => second.close())
  await second.swept
  await second.objects.check(kept)
  assert.ok((await findJob(second.db, { id: job, account: 'acme' }))?.result, 'in an object')
  await assert.rejects(second.objects.check(lost), { code: 'file_not_found' })
  assert.deepEqual(await readdir(unfinished), [])
})

test('without its database the server does not start, and no object is removed', async (t) => {
  const folder = await makeFolder(t)
  const id = randomUUID()
  const first = await openFolder(folder)
  await first.objects.write(id, bytesOf('precious'), options)
  await first.close()
  const file = join(folder, 'steno.sqlite')
  const backup = await readFile(file)
  for (const lose of [rm, truncate]) {
    await lose(file)
    await assert.rejects(openFolder(folder), /steno\.sqlite: it is gone, but not its obj/)
    await writeFile(file, backup)
  }
  const second = await openFolder(folder)
  t.after(() => second.close())
  await second.swept
  await assert.rejects(second.objects.check(id), { code: 'file_not_found' })
})
