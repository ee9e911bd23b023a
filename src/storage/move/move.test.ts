import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sql } from 'kysely'
import { fillStore, hashFolder } from '../../../test/support/filled-store.ts'
import { bytesOf } from '../../../test/support/objects-conformance.ts'
import { createDatabase, noPostgres } from '../../../test/support/test-postgres.ts'
import { noS3, s3Settings } from '../../../test/support/test-s3.ts'
import { makeFolder } from '../../../test/support/test-storage.ts'
import { createLog } from '../../log.ts'
import { listDiskObjects, objectPath } from '../objects/disk-objects.ts'
import type { DatabaseSettings } from '../postgres/postgres.ts'
import { createS3, type S3Settings } from '../s3/s3-client.ts'
import { openStorage, type StorageOptions } from '../storage.ts'
import { type MoveOptions, type MoveStage, moveStore } from './move.ts'

const log = createLog('silent')
const skip = noPostgres || noS3
const JOBS = 700
const OBJECTS = 12
const { signal } = new AbortController()

function move(folder: string, given: Partial<MoveOptions> = {}): Promise<void> {
  const usual = { isRestarted: false, database: undefined, objectStore: undefined, signal }
  return moveStore({ folder, onProgress() {}, ...usual, ...given })
}

/** Aborts a move when it has come so far in a stage. */
function abortAt(stage: MoveStage, part: number): Pick<MoveOptions, 'signal' | 'onProgress'> {
  const abort = new AbortController()
  return {
    signal: abort.signal,
    onProgress(now, done, total) {
      if (now === stage && done >= total * part) abort.abort(new Error('stopped'))
    },
  }
}

/** Opens the moved store in a new folder, checks what it holds, and closes it. */
async function checkMoved(options: Omit<StorageOptions, 'log'>): Promise<void> {
  const storage = await openStorage({ ...options, log })
  await storage.swept
  const { rows } = await sql<{ jobs: number; bytes: number }>`select
    (select count(*) from jobs) as jobs, (select bytes from account_bytes) as bytes
    `.execute(storage.db.sql)
  assert.equal(rows[0]!.jobs, JOBS)
  assert.ok(rows[0]!.bytes > JOBS * 800, 'what the account stores is counted')
  assert.equal((await Array.fromAsync(storage.objects.list())).flat().length, OBJECTS)
  await storage.close()
}

test('a data folder moves to PostgreSQL and S3, and stays as it was', { skip }, async (t) => {
  const folder = await fillStore(t, { jobs: JOBS, objects: OBJECTS })
  const before = await hashFolder(folder)
  const [database, objectStore] = [await createDatabase(), await s3Settings()]
  const stages = new Set<string>()
  const onProgress = (stage: MoveStage) => stages.add(stage)
  await move(folder, { database, objectStore, onProgress })
  assert.deepEqual([...stages].map((stage) => stage.split(' ')[1]).sort(), [
    ...['objects', 'objects', 'rows', 'rows'],
  ])
  assert.equal(await hashFolder(folder), before)
  await checkMoved({ folder: await makeFolder(t), database, objectStore })
  await assert.rejects(move(folder, { database }), /in use, its table keys has rows/)
  await assert.rejects(move(folder, { objectStore }), /it has objects/)
})

test('rows alone, or objects alone, move', { skip }, async (t) => {
  const folder = await fillStore(t, { jobs: JOBS, objects: OBJECTS })
  const objectStore = await s3Settings()
  await move(folder, { objectStore })
  const database = await createDatabase()
  await move(folder, { database })
  await checkMoved({ folder: await makeFolder(t), database, objectStore })
})

const stops: [MoveStage, number][] = [
  ['copying objects', 0.1],
  ['comparing objects', 0.1],
  ['copying rows', 0.5],
  ['comparing rows', 0.5],
]

test('a move that was stopped anywhere goes on; until its end nothing uses its targets', {
  skip,
}, async (t) => {
  const folder = await fillStore(t, { jobs: JOBS, objects: OBJECTS })
  const targets = { database: await createDatabase(), objectStore: await s3Settings() }
  for (const [stage, part] of stops) {
    await assert.rejects(move(folder, { ...targets, ...abortAt(stage, part) }), /stopped/)
    const empty = { folder: await makeFolder(t), log }
    for (const target of [{ database: targets.database }, { objectStore: targets.objectStore }]) {
      await assert.rejects(openStorage({ ...empty, ...target }), /is being moved into it/)
    }
  }
  const other = await fillStore(t, { jobs: 1, objects: 1 })
  await assert.rejects(move(other, targets), /another data folder is being moved/)
  await move(folder, targets)
  await checkMoved({ folder: await makeFolder(t), ...targets })
})

test('a folder that changed amid a move is noticed, and a restart moves it', {
  skip,
}, async (t) => {
  const folder = await fillStore(t, { jobs: JOBS, objects: OBJECTS })
  const targets = { database: await createDatabase(), objectStore: await s3Settings() }
  await assert.rejects(move(folder, { ...targets, ...abortAt('copying rows', 0.9) }), /stopped/)
  const [ids] = await Array.fromAsync(listDiskObjects(join(folder, 'objects')))
  const path = objectPath(join(folder, 'objects'), ids![0]!)
  await writeFile(path, 'X'.repeat((await stat(path)).size))
  await assert.rejects(move(folder, targets), /1 objects differ: .* '--restart'/)
  const { db, close } = await openStorage({ folder, log })
  await sql`update jobs set attempt = 3 where created_at = 0`.execute(db.sql)
  await close()
  await assert.rejects(move(folder, { database: targets.database }), /The rows of jobs differ/)
  await move(folder, { ...targets, isRestarted: true })
  await checkMoved({ folder: await makeFolder(t), ...targets })
})

test('a target in use is refused', { skip }, async (t) => {
  const folder = await fillStore(t, { jobs: 1, objects: 1 })
  const used: { database: DatabaseSettings; objectStore: S3Settings } = {
    database: await createDatabase(),
    objectStore: await s3Settings(),
  }
  const server = await openStorage({ folder: await makeFolder(t), ...used, log })
  t.after(() => server.close())
  await assert.rejects(move(folder, { database: used.database }), /its table owners has rows/)
  await server.objects.write(randomUUID(), bytesOf('x'), { maxBytes: 10, signal })
  await assert.rejects(move(folder, { objectStore: used.objectStore }), /it has objects/)
})

test('a folder that a server uses is not moved', { skip }, async (t) => {
  const folder = await makeFolder(t)
  const server = await openStorage({ folder, log })
  t.after(() => server.close())
  const objectStore = await s3Settings()
  await assert.rejects(move(folder, { objectStore }), /another server is using/)
  const { client, commands, bucket, prefix } = await createS3(objectStore)
  const list = new commands.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix })
  assert.equal((await client.send(list)).KeyCount, 0)
  client.destroy()
})
