import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { sql } from 'kysely'
import { oneChunk } from '../../../test/support/audio/fake-media.ts'
import { addFile, addJob, claim, returnLost } from '../../../test/support/jobs/test-jobs.ts'
import { createLossyDatabase } from '../../../test/support/storage/databases/lossy-database.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { steadyNow } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { createLog } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import { runAttempt } from './attempt.ts'

const account = 'acme'

type Given = {
  /** Called once the redacted recording is stored. */
  before?: (db: Db) => unknown
  /** Whether the response to the end of the job is lost. */
  losesResponse?: boolean
  /** Called while the attempt waits for the database. */
  pause?: (db: Db) => unknown
  stop?: AbortSignal
  /** Whether another job uses the same upload. */
  isShared?: boolean
}

/**
 * Makes an attempt that stores a redacted recording. Returns which of the two recordings remain.
 */
async function attempt(
  t: TestContext,
  { before, pause, stop, isShared = false, losesResponse = false }: Given = {},
) {
  const { db } = await openTestStorage(t)
  const { signal } = new AbortController()
  const store = (id: string) =>
    db.objects.write(id, oneChunk(Buffer.from('sound')), { maxBytes: 9, signal })
  const fileId = await addFile(db)
  await store(fileId)
  await addJob(db, { fileId })
  const job = (await claim(db, { now: steadyNow() }))!
  if (isShared) await addJob(db, { fileId })
  const object = randomUUID()
  const keptWhen: Record<string, string[]> = {}
  async function note(moment: string): Promise<void> {
    const ids = (await Array.fromAsync(db.objects.list())).flat()
    const names = { [fileId]: 'original', [object]: 'redacted' }
    keptWhen[moment] = ids.map((id) => names[id] ?? id).sort()
  }
  const lossy = createLossyDatabase(db)
  const deps = {
    db: lossy.db,
    log: createLog('silent'),
    maxAttempts: 3,
    timeout: 0,
    stop: stop ?? signal,
    slot: { enter: async () => {}, leave() {}, decoded() {} },
    async transcribe() {
      const { size } = await store(object)
      await before?.(db)
      if (losesResponse) lossy.loseNext()
      return { result: {}, redactedAudio: { object, size } }
    },
    discard: () => note('discarded'),
    async pause() {
      await note('paused')
      await pause?.(db)
    },
  }
  await runAttempt(deps, job).catch((error) => assert.ok(stop, error))
  await note('end')
  return { job: (await findJob(db, { id: job.id, account }))!, object, keptWhen }
}

test('the original is deleted as soon as the job has ended', async (t) => {
  const { job, object, keptWhen } = await attempt(t)
  assert.deepEqual([job.status, job.redactedAudio], ['done', { object, size: 5 }])
  assert.deepEqual(keptWhen, { discarded: ['redacted'], end: ['redacted'] })
})

test('an original used by another job is kept', async (t) => {
  const { job, keptWhen } = await attempt(t, { isShared: true })
  assert.equal(job.status, 'done')
  assert.deepEqual(keptWhen.end, ['original', 'redacted'])
})

test('the redacted recording is deleted if the job lost its lease', async (t) => {
  const { job, keptWhen } = await attempt(t, {
    async before(db) {
      await returnLost(db, { now: steadyNow() + 60_000 })
      await claim(db, { now: steadyNow() + 60_000 })
    },
  })
  assert.equal(job.status, 'processing')
  assert.deepEqual(keptWhen, { end: ['original'] })
})

test('the redacted recording is kept while the database is busy', async (t) => {
  const { job, keptWhen } = await attempt(t, {
    before: refuseEnds,
    pause: (db) => sql`drop trigger busy`.execute(db.sql),
  })
  assert.equal(job.status, 'done')
  assert.deepEqual(keptWhen.paused, ['original', 'redacted'])
  assert.deepEqual(keptWhen.end, ['redacted'])
})

test("the redacted recording is kept if only the database's response was lost", async (t) => {
  const { job, object, keptWhen } = await attempt(t, { losesResponse: true })
  assert.deepEqual([job.status, job.redactedAudio], ['done', { object, size: 5 }])
  assert.deepEqual(keptWhen.end, ['redacted'])
  const server = new AbortController()
  const before = () => server.abort(new AppError('server_stopping'))
  const stopped = await attempt(t, { losesResponse: true, stop: server.signal, before })
  assert.equal(stopped.job.status, 'done')
  assert.ok(stopped.keptWhen.end!.includes('redacted'))
})

test('the redacted recording is deleted if the server stops before the job ended', async (t) => {
  const server = new AbortController()
  const { job, keptWhen } = await attempt(t, {
    stop: server.signal,
    async before(db) {
      await refuseEnds(db)
      server.abort(new AppError('server_stopping'))
    },
  })
  assert.equal(job.status, 'queued')
  assert.deepEqual(keptWhen, { end: ['original'] })
})

async function refuseEnds(db: Db): Promise<void> {
  await sql`create trigger busy before update of result on jobs
    begin select raise(fail, 'the database is locked'); end`.execute(db.sql)
}

test('a job ends even if its original cannot be deleted', async (t) => {
  const { job, keptWhen } = await attempt(t, {
    before: (db) => t.mock.method(db.objects, 'delete', () => Promise.reject(new Error('EIO'))),
  })
  assert.equal(job.status, 'done')
  assert.deepEqual(keptWhen.end, ['original', 'redacted'])
})
