import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { addJob, claim } from '../../../test/support/test-jobs.ts'
import { makeFolder } from '../../../test/support/test-storage.ts'
import { createLog } from '../../log.ts'
import type { Db } from '../db.ts'
import { findJob } from '../jobs/jobs.ts'
import { finishJob } from '../jobs/lease.ts'
import type { JobResult } from '../jobs/results.ts'
import { openStorage } from '../storage.ts'
import { insertFile } from './files.ts'
import { openObjects } from './objects.ts'

const options = { maxBytes: 1000, signal: new AbortController().signal }

async function* bytesOf(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

test('an object is read back whole or in a range whose both ends are included', async (t) => {
  const objects = await openObjects(await makeFolder(t))
  const id = randomUUID()
  assert.deepEqual(await objects.write(id, bytesOf('hello ', 'world'), options), { size: 11 })
  assert.equal(await text((await objects.open(id)).body), 'hello world')
  assert.equal(await text((await objects.open(id, { start: 4, end: 6 })).body), 'o w')
  assert.equal(await readFile(objects.path(id), 'utf8'), 'hello world')
})

test('a write replaces the object of the same id', async (t) => {
  const objects = await openObjects(await makeFolder(t))
  const id = randomUUID()
  await objects.write(id, bytesOf('first'), options)
  await objects.write(id, bytesOf('second'), options)
  assert.equal(await text((await objects.open(id)).body), 'second')
})

test('a file becomes an object without a copy, and stays one when it is removed', async (t) => {
  const folder = await makeFolder(t)
  const objects = await openObjects(join(folder, 'objects'))
  const [id, file] = [randomUUID(), join(folder, 'file')]
  await writeFile(file, 'hello')
  await objects.write(id, bytesOf('before'), options)
  await objects.link(id, file)
  assert.equal((await stat(objects.path(id))).ino, (await stat(file)).ino)
  await objects.link(id, file)
  await rm(file)
  assert.equal(await text((await objects.open(id)).body), 'hello')
  assert.deepEqual(await readdir(join(folder, 'objects', 'unfinished')), [])
  await assert.rejects(objects.link(id, file), { code: 'file_not_found' })
  assert.equal(await text((await objects.open(id)).body), 'hello')
})

test('a file is copied where it cannot be linked', {
  skip: !existsSync('/dev/shm') && 'needs a second file system',
}, async (t) => {
  const other = await mkdtemp('/dev/shm/steno-test-')
  t.after(() => rm(other, { recursive: true, force: true }))
  const file = join(other, 'file')
  await writeFile(file, 'hello')
  const folder = await makeFolder(t)
  const objects = await openObjects(folder)
  const id = randomUUID()
  await objects.link(id, file)
  assert.equal(await text((await objects.open(id)).body), 'hello')
  assert.deepEqual(await readdir(join(folder, 'unfinished')), [])
})

test('a write beyond the limit fails and leaves nothing', async (t) => {
  const folder = await makeFolder(t)
  const objects = await openObjects(folder)
  const id = randomUUID()
  const limit = { ...options, maxBytes: 10 }
  await assert.rejects(objects.write(id, bytesOf('hello ', 'world'), limit), {
    code: 'media_too_large',
  })
  await assert.rejects(objects.check(id), { code: 'file_not_found' })
  assert.deepEqual(await readdir(join(folder, 'unfinished')), [])
  await objects.write(id, bytesOf('0123456789'), limit)
})

test('a write ends when it is aborted, though its source never does', async (t) => {
  const folder = await makeFolder(t)
  const objects = await openObjects(folder)
  const abort = new AbortController()
  const source = new PassThrough()
  source.write('hello')
  const written = objects.write(randomUUID(), source, { ...options, signal: abort.signal })
  while (source.readableLength > 0) await delay(5)
  abort.abort(new Error('the client is gone'))
  await assert.rejects(written, /the client is gone/)
  assert.deepEqual(await readdir(join(folder, 'unfinished')), [])
})

test('a failing source fails the write and leaves nothing', async (t) => {
  const folder = await makeFolder(t)
  const objects = await openObjects(folder)
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half')
    throw new Error('connection reset')
  }
  const id = randomUUID()
  await assert.rejects(objects.write(id, broken(), options), /connection reset/)
  await assert.rejects(objects.check(id), { code: 'file_not_found' })
  assert.deepEqual(await readdir(join(folder, 'unfinished')), [])
})

test('an object that is missing is told so, and deleting it is no error', async (t) => {
  const objects = await openObjects(await makeFolder(t))
  const id = randomUUID()
  await assert.rejects(objects.open(id), { code: 'file_not_found' })
  await objects.delete(id)
  await objects.write(id, bytesOf('x'), options)
  await objects.check(id)
  await objects.delete(id)
  await assert.rejects(objects.check(id), { code: 'file_not_found' })
})

test('nothing but a UUID becomes a path', async (t) => {
  const objects = await openObjects(await makeFolder(t))
  for (const id of [
    '../../etc/passwd',
    '',
    'abc',
    `${randomUUID()}/x`,
    randomUUID().toUpperCase(),
  ]) {
    assert.throws(() => objects.path(id), { code: 'file_not_found' })
    await assert.rejects(objects.open(id), { code: 'file_not_found' })
  }
})

async function addEndedJob(db: Db, result: JobResult): Promise<string> {
  await addJob(db)
  const job = (await claim(db))!
  await finishJob(db, job.lease, { result, at: 1 })
  return job.id
}

test('a start removes unfinished writes and the objects that nothing refers to', async (t) => {
  const folder = await makeFolder(t)
  const log = createLog('silent')
  const [kept, lost] = [randomUUID(), randomUUID()]
  const first = await openStorage({ folder, log })
  await first.objects.write(kept, bytesOf('kept'), options)
  await first.objects.write(lost, bytesOf('lost'), options)
  const rest = { filename: null, source: null, extension: 'wav', size: 4, duration: 1, channels: 1 }
  await insertFile(first.db, { id: kept, account: 'acme', ...rest, createdAt: 1 })
  const job = await addEndedJob(first.db, { text: 'x'.repeat(300_000) })
  await first.close()
  const unfinished = join(folder, 'objects', 'unfinished')
  await mkdir(unfinished, { recursive: true })
  await writeFile(join(unfinished, 'half'), 'x')

  const second = await openStorage({ folder, log })
  t.after(() => second.close())
  await second.swept
  await second.objects.check(kept)
  assert.ok((await findJob(second.db, { id: job, account: 'acme' }))?.result, 'in an object')
  await assert.rejects(second.objects.check(lost), { code: 'file_not_found' })
  assert.deepEqual(await readdir(unfinished), [])
})

test('without its database nothing starts and no object is removed: they are all that is left', async (t) => {
  const folder = await makeFolder(t)
  const log = createLog('silent')
  const id = randomUUID()
  const first = await openStorage({ folder, log })
  await first.objects.write(id, bytesOf('precious'), options)
  await first.close()
  const file = join(folder, 'steno.sqlite')
  const backup = await readFile(file)
  for (const lose of [rm, truncate]) {
    await lose(file)
    await assert.rejects(openStorage({ folder, log }), /steno\.sqlite: it is gone, but not its obj/)
    await writeFile(file, backup)
  }
  const second = await openStorage({ folder, log })
  t.after(() => second.close())
  await second.swept
  await assert.rejects(second.objects.check(id), { code: 'file_not_found' })
})

test('an object that is open stays readable when it is deleted', async (t) => {
  const objects = await openObjects(await makeFolder(t))
  const id = randomUUID()
  await objects.write(id, bytesOf('hello'), options)
  const { size, body } = await objects.open(id)
  await objects.delete(id)
  assert.deepEqual([size, await text(body)], [5, 'hello'])
})
