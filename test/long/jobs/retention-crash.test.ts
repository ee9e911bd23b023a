import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createLog } from '../../../src/observability/log.ts'
import { inTransaction } from '../../../src/storage/database/db.ts'
import { disableEndpoint } from '../../../src/storage/deliveries/endpoints/endpoints.ts'
import { finishJob } from '../../../src/storage/jobs/finish-job.ts'
import { insertJob } from '../../../src/storage/jobs/queue/insert-job.ts'
import { objectPath } from '../../../src/storage/objects/disk/disk-objects.ts'
import { insertRecording } from '../../../src/storage/recordings/recordings.ts'
import { openStorage, type Storage } from '../../../src/storage/storage.ts'
import { addWebhook } from '../../support/delivery/test-deliveries.ts'
import { claim } from '../../support/jobs/test-jobs.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { kill, startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const ROUNDS = rounds(3)
/** Jobs, and uploads that no job uses, that fall due in each round. */
const DUE_JOBS = 40
const DUE_UPLOADS = 10
const KEPT = 30
const MAX_START_MS = 500
/** Every so many kills one comes while the server is still starting. */
const EARLY_KILLS = 4

const ACCOUNT = 'test'
const LONG_RESULT = { text: 'x'.repeat(300_000) }
const YEARS_MS = 2 * 365 * 86_400_000

type Kept = { jobs: string[]; uploads: string[] }

/**
 * Stores ended jobs, each with a recording, metadata, an idempotency key and a long result, and
 * unused uploads.
 */
async function store(
  { db }: Storage,
  { folder, jobs, uploads }: { folder: string; jobs: number; uploads: number },
) {
  const stored: Kept = { jobs: [], uploads: [] }
  const createdAt = Date.now()
  async function addRecording(tx: Storage['db']): Promise<string> {
    const id = randomUUID()
    await mkdir(dirname(objectPath(join(folder, 'objects'), id)), { recursive: true })
    await writeFile(objectPath(join(folder, 'objects'), id), 'recording')
    const shape = { extension: 'wav', size: 9, duration: 1, channels: 1 }
    await insertRecording(tx, {
      id,
      account: ACCOUNT,
      filename: null,
      source: null,
      ...shape,
      createdAt,
    })
    return id
  }
  await inTransaction(db, async (tx) => {
    for (let n = 0; n < uploads; n++) stored.uploads.push(await addRecording(tx))
    for (let n = 0; n < jobs; n++) {
      const id = randomUUID()
      const file = { id: await addRecording(tx), filename: null, source: null }
      const job = { id, account: ACCOUNT, createdAt, runAfter: 0, params: {}, file }
      await insertJob(tx, { ...job, customMetadata: { n, of: 'retention' } }, { maxQueued: 300 })
      const key = { account: ACCOUNT, key: id, fingerprint: 'f', job_id: id, created_at: createdAt }
      await tx.sql.insertInto('idempotency_keys').values(key).execute()
      const { lease } = (await claim(tx))!
      await finishJob(tx, lease, { result: LONG_RESULT, at: createdAt })
      stored.jobs.push(id)
    }
  })
  return stored
}

/** Everything in the store, for comparison: every row, and every object with its size. */
async function takeStock(folder: string) {
  const database = new DatabaseSync(join(folder, 'steno.sqlite'))
  const all = (table: string, by: string) =>
    database.prepare(`select * from ${table} order by ${by}`).all()
  const rows = {
    jobs: all('jobs', 'id'),
    files: all('files', 'id'),
    metadata: all('job_metadata', 'id, token'),
    keys: all('idempotency_keys', 'key'),
    deliveries: all('deliveries', 'id'),
  }
  database.close()
  const paths = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true })
  const objects = paths.filter((entry) => entry.isFile()).map(({ name }) => name)
  return { ...rows, objects: objects.sort() }
}

test('kills during retention leave expired jobs deleted and others unchanged', async (t) => {
  const folder = await makeFolder(t)
  const random = createRandom(SEED + 2)
  const storage = await openStorage({ folder, log: createLog('silent') })
  // What it is told stays as it is: nobody tries to.
  const webhook = await addWebhook(storage.db, { account: ACCOUNT })
  await disableEndpoint(storage.db, webhook, { reason: 'for the test', at: 1 })
  await store(storage, { folder, jobs: KEPT, uploads: KEPT })
  await storage.close()
  const kept = await takeStock(folder)
  assert.equal(kept.deliveries.length, 2 * KEPT)
  const again = await openStorage({ folder, log: createLog('silent') })
  const due = await store(again, { folder, jobs: ROUNDS * DUE_JOBS, uploads: ROUNDS * DUE_UPLOADS })
  await again.close()

  /**
   * Kills that came between the deletion of a row and that of its object, and before that of a row.
   */
  const cut = { objects: 0, rows: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const jobs = due.jobs.slice(round * DUE_JOBS, (round + 1) * DUE_JOBS)
    const uploads = due.uploads.slice(round * DUE_UPLOADS, (round + 1) * DUE_UPLOADS)
    const database = new DatabaseSync(join(folder, 'steno.sqlite'))
    for (const [i, id] of jobs.entries()) {
      const past = Date.now() - YEARS_MS + i
      database.prepare('update jobs set completed_at = ? where id = ?').run(past, id)
      database.prepare('update idempotency_keys set created_at = ? where key = ?').run(past, id)
    }
    for (const id of uploads) {
      database
        .prepare('update files set created_at = created_at - ? where id = ?')
        .run(YEARS_MS, id)
    }
    const ids = [...jobs, ...due.jobs.slice(0, round * DUE_JOBS)]
    const some = ids[Math.floor(random() * jobs.length)]!
    const { file_id: watched } = database
      .prepare('select file_id from jobs where id = ?')
      .get(some)!
    database.close()

    if (round % EARLY_KILLS === 0) {
      const server = await startChild(t, folder, { startMs: random() * MAX_START_MS })
      if (server) await kill(server)
    } else {
      // Killed when it has come to one of the recordings, the place of which in the row is random.
      const path = objectPath(join(folder, 'objects'), String(watched))
      const server = (await startChild(t, folder))!
      while (existsSync(path)) {
        assert.equal(server.process.exitCode, null, 'the server runs')
        await setImmediate()
      }
      await kill(server)
    }
    const { jobs: rows, files, objects } = await takeStock(folder)
    const known = new Set([...rows.map((row) => row.result_object), ...files.map((row) => row.id)])
    if (objects.some((id) => !known.has(id))) cut.objects++
    if (rows.length > KEPT + (ROUNDS - 1 - round) * DUE_JOBS) cut.rows++
  }
  t.diagnostic(`kills before a row: ${cut.rows}, between row and object: ${cut.objects}`)
  if (ROUNDS >= 8) assert.ok(cut.objects > 0 && cut.rows > 0, 'kills came in the middle')

  const last = (await startChild(t, folder))!
  while ((await takeStock(folder)).objects.length > kept.objects.length) await setImmediate()
  while ((await takeStock(folder)).keys.length > kept.keys.length) await setImmediate()
  await kill(last)
  assert.deepEqual(await takeStock(folder), kept)
  const content = await readFile(
    objectPath(join(folder, 'objects'), String(kept.files[0]!.id)),
    'utf8',
  )
  assert.equal(content, 'recording')
})
