import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { sql } from 'kysely'
import { addJob, claim, returnLost } from '../../../test/support/jobs/test-jobs.ts'
import { createLossyDatabase } from '../../../test/support/storage/databases/lossy-database.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { steadyNow } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { createLog } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import { findJobState } from '../../storage/jobs/queue/job-state.ts'
import { type AttemptDeps, runAttempt } from './attempt.ts'

const account = 'acme'

type Step = Parameters<AttemptDeps['transcribe']>[1] & { db: Db; job: ClaimedJob }

/** Claims a job and makes one attempt at it. Returns the outcome and the order of events. */
async function attempt(
  t: TestContext,
  transcribe: (step: Step) => unknown,
  given: Partial<AttemptDeps> = {},
) {
  const { db } = await openTestStorage(t)
  await addJob(db)
  const job = (await claim(db, { now: steadyNow() }))!
  const discardedWhile: unknown[] = []
  const deps: AttemptDeps = {
    db,
    log: createLog('silent'),
    maxAttempts: 3,
    timeout: 0,
    stop: new AbortController().signal,
    slot: { enter: async () => {}, leave() {}, decoded() {} },
    transcribe: async (job, options) => {
      return { result: (await transcribe({ db, job, ...options })) as Record<string, unknown> }
    },
    discard: async (id) => {
      discardedWhile.push((await findJob(db, { id, account }))?.status)
    },
    ...given,
  }
  await runAttempt(deps, job)
  const after = (await findJob(db, { id: job.id, account }))!
  const row = await db.sql.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()
  return { after, row, discardedWhile }
}

function fail(code: AppError['code'], detail?: string) {
  return () => Promise.reject(new AppError(code, detail))
}

test('a result is stored before the checkpoints are discarded', async (t) => {
  const { after, discardedWhile } = await attempt(t, () => ({ words: 1 }))
  assert.deepEqual([after.status, after.result], ['done', { text: '{"words":1}' }])
  assert.deepEqual(discardedWhile, ['done'])
})

test('a media failure ends the job at once and discards its checkpoints first', async (t) => {
  const { after, discardedWhile } = await attempt(t, fail('media_undecodable', 'it is cut'))
  assert.deepEqual([after.status, after.errorCode], ['error', 400])
  const message = 'Cannot decode the media: it is cut'
  assert.deepEqual(JSON.parse(after.postSessionMetadata), { failure: { code: 400, message } })
  assert.deepEqual(discardedWhile, ['processing'])
})

test('an engine failure is retried after a pause with the checkpoints kept', async (t) => {
  const before = steadyNow()
  const { after, row, discardedWhile } = await attempt(t, fail('engine_failed'))
  assert.equal(after.status, 'queued')
  assert.deepEqual(discardedWhile, [])
  assert.equal(row.attempt, 1)
  assert.ok(row.run_after >= before + 1000, 'after a pause')
})

test('a transient source failure is retried and finally reported as the cause', async (t) => {
  const unreached = () => {
    const detail = 'its name could not be looked up'
    return Promise.reject(new AppError('source_unreachable', detail, { isTransient: true }))
  }
  const before = steadyNow()
  const { after, row } = await attempt(t, unreached)
  assert.deepEqual([after.status, row.attempt], ['queued', 1])
  assert.ok(row.run_after >= before + 5000, 'after a pause')
  const last = await attempt(t, unreached, { maxAttempts: 1 })
  assert.deepEqual([last.after.status, last.after.errorCode], ['error', 502])
  assert.match(last.after.postSessionMetadata, /its name could not be looked up/)
})

test('a permanent source failure ends the job at once', async (t) => {
  const { after } = await attempt(t, fail('source_unreachable', 'its host name does not resolve'))
  assert.deepEqual([after.status, after.errorCode], ['error', 502])
})

test('a job without disk space discards its checkpoints and waits', async (t) => {
  const before = steadyNow()
  const { after, row, discardedWhile } = await attempt(t, fail('storage_full'), { maxAttempts: 1 })
  assert.equal(after.status, 'queued')
  assert.equal(row.attempt, 0)
  assert.ok(row.run_after >= before + 30_000, 'after a pause')
  assert.ok(row.storage_wait_since! >= before)
  assert.deepEqual(discardedWhile, ['processing'])
})

test('a job fails after waiting for disk space for a day', async (t) => {
  const waited = (hours: number) => {
    const since = steadyNow() - hours * 3_600_000
    return ({ job }: Step) => {
      job.spaceWaitSince = since
      throw new AppError('storage_full', 'no space is left')
    }
  }
  const early = await attempt(t, waited(23))
  assert.equal(early.after.status, 'queued')
  assert.ok(early.row.storage_wait_since! < steadyNow() - 22 * 3_600_000, 'since when is kept')
  const { after } = await attempt(t, waited(25))
  assert.deepEqual([after.status, after.errorCode], ['error', 503])
  assert.match(after.postSessionMetadata, /no space is left/)
  const impatient = await attempt(t, waited(1), { spaceWait: { pauseMs: 0, maxMs: 60_000 } })
  assert.equal(impatient.after.status, 'error')
})

test('without a recognizer a job waits without using an attempt', async (t) => {
  const { after, row } = await attempt(t, fail('engine_unavailable'), { maxAttempts: 1 })
  assert.equal(after.status, 'queued')
  assert.equal(row.attempt, 0)
  assert.ok(row.run_after > steadyNow() + 20_000)
})

test('without the object store a job waits without using an attempt', async (t) => {
  const { after, row } = await attempt(t, fail('object_store_unavailable'), { maxAttempts: 1 })
  assert.equal(after.status, 'queued')
  assert.equal(row.attempt, 0)
  assert.ok(row.run_after > steadyNow() + 2000)
})

test('after the last engine failure the job reports the number of attempts', async (t) => {
  const { after } = await attempt(t, fail('engine_failed', 'it crashed'), { maxAttempts: 1 })
  assert.deepEqual([after.status, after.errorCode], ['error', 500])
  const { failure } = JSON.parse(after.postSessionMetadata) as { failure: { message: string } }
  assert.match(failure.message, /^Cannot finish the job: its only attempt failed: .*it crashed$/)
})

test('a job ends even if its checkpoints cannot be removed', async (t) => {
  const discard = () => Promise.reject(new Error('input/output error'))
  assert.equal((await attempt(t, () => ({}), { discard })).after.status, 'done')
  const { after } = await attempt(t, fail('media_undecodable'), { discard })
  assert.deepEqual([after.status, after.errorCode], ['error', 400])
})

test('an internal error is reported as 500 without details', async (t) => {
  const { after } = await attempt(t, () => Promise.reject(new TypeError('secret of the house')))
  const failure = { code: 500, message: 'Internal server error' }
  assert.deepEqual(JSON.parse(after.postSessionMetadata), { failure })
})

test('an attempt that exceeds its timeout ends with 504', async (t) => {
  const { after } = await attempt(
    t,
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('odd')))),
    { timeout: 0.01 },
  )
  assert.deepEqual([after.status, after.errorCode], ['error', 504])
})

test('a stopping server returns the job without counting the attempt', async (t) => {
  const server = new AbortController()
  const { after, row, discardedWhile } = await attempt(
    t,
    ({ signal }) => {
      server.abort(new AppError('server_stopping'))
      signal.throwIfAborted()
    },
    { stop: server.signal },
  )
  assert.equal(after.status, 'queued')
  assert.deepEqual([row.attempt, row.lease_owner], [0, null])
  assert.deepEqual(discardedWhile, [], 'its stages are kept')
})

test('the result of an attempt that lost its lease is dropped', async (t) => {
  const { after, discardedWhile } = await attempt(t, async ({ db }) => {
    await returnLost(db, { now: steadyNow() + 60_000 })
    await claim(db, { now: steadyNow() + 60_000 })
    return { stale: true }
  })
  assert.deepEqual([after.status, after.result], ['processing', null])
  assert.deepEqual(discardedWhile, [], 'the stages belong to the other owner')
})

test('progress is written during the attempt, and failures to do so are ignored', async (t) => {
  const step = { stage: 'recognize', fraction: 0.5, secondsLeft: 3 }
  const { after } = await attempt(t, async ({ db, job: { id }, onProgress }) => {
    onProgress(step)
    const find = async () => (await findJobState(db, { id, account }))?.progress
    while (!(await find()));
    assert.deepEqual(await find(), step)
    await sql`create trigger no_progress before update of progress_stage on jobs
      when new.progress_stage is not null begin select raise(fail, 'no'); end`.execute(db.sql)
    onProgress(step)
    return {}
  })
  assert.equal(after.status, 'done')
})

/** Opens a database that refuses to write one column of jobs until the second pause. */
function openBusy() {
  const pauses: number[] = []
  let held: Db | undefined
  return {
    pauses,
    async refuse(db: Db, column: string): Promise<void> {
      const trigger = `create trigger busy before update of ${column} on jobs
        begin select raise(fail, 'the database is locked'); end`
      await sql.raw(trigger).execute(db.sql)
      held = db
    },
    async pause(ms: number): Promise<void> {
      if (pauses.push(ms) === 2) await sql`drop trigger busy`.execute(held!.sql)
    },
  }
}

test('a result is written later if the database is busy', async (t) => {
  const { refuse, pause, pauses } = openBusy()
  const transcribe = async ({ db }: Step) => {
    await refuse(db, 'result')
    return { words: 2 }
  }
  const { after } = await attempt(t, transcribe, { pause })
  assert.deepEqual(pauses, [1000, 1000])
  assert.deepEqual([after.status, after.result], ['done', { text: '{"words":2}' }])
})

test('a failure is written later if the database is busy', async (t) => {
  const { refuse, pause, pauses } = openBusy()
  const transcribe = async ({ db }: Step) => {
    await refuse(db, 'error_code')
    throw new AppError('media_undecodable')
  }
  const { after } = await attempt(t, transcribe, { pause })
  assert.deepEqual(pauses, [1000, 1000])
  assert.deepEqual([after.status, after.errorCode], ['error', 400])
})

test("an attempt that lost its lease keeps the checkpoints, which the new owner's attempt uses", async (t) => {
  for (const code of ['job_timeout', 'storage_full'] as const) {
    const { after, discardedWhile } = await attempt(t, async ({ db }) => {
      await returnLost(db, { now: steadyNow() + 60_000 })
      await claim(db, { now: steadyNow() + 60_000 })
      throw new AppError(code)
    })
    assert.equal(after.status, 'processing')
    assert.deepEqual(discardedWhile, [])
  }
})

test("a failed job notifies its receivers if the database's response is lost", async (t) => {
  const { db } = await openTestStorage(t)
  await addJob(db)
  const job = (await claim(db, { now: steadyNow() }))!
  const lossy = createLossyDatabase(db)
  let events = 0
  await runAttempt(
    {
      db: lossy.db,
      log: createLog('silent'),
      maxAttempts: 3,
      timeout: 0,
      stop: new AbortController().signal,
      slot: { enter: async () => {}, leave() {}, decoded() {} },
      transcribe: fail('media_undecodable'),
      discard: async () => lossy.loseNext(),
      pause: async () => {},
      onEvents: () => events++,
    },
    job,
  )
  assert.equal((await findJob(db, { id: job.id, account }))?.status, 'error')
  assert.equal(events, 1)
})
