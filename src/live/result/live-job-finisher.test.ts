import assert from 'node:assert/strict'
import test from 'node:test'
import { beginNewLiveJob } from '../../../test/support/live/sessions/test-live-jobs.ts'
import { createLossyDatabase } from '../../../test/support/storage/databases/lossy-database.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { createLog } from '../../observability/log.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import { readResult } from '../../storage/jobs/results.ts'
import type { FinishedSession } from '../messages/closing-messages.ts'
import { type LeasedSession, LiveJobFinisher, retryUntilStored } from './live-job-finisher.ts'

const long = JSON.stringify({ text: 'x'.repeat(300_000) })

test('a session whose end got no database response is done with its result', async (t) => {
  const { db } = await openTestStorage(t)
  const lossy = createLossyDatabase(db)
  const job = await beginNewLiveJob(db)
  const { signal } = new AbortController()
  const options = {
    storage: { db: lossy.db, objects: db.objects },
    log: createLog('silent'),
    signal,
  }
  const session = { job, lease: job.lease, store: {} } as unknown as LeasedSession
  const finisher = new LiveJobFinisher(options, session)
  const outcome = {
    async *result() {
      yield long
    },
    audioBytes: 0,
    duration: 0,
  } as unknown as FinishedSession
  lossy.loseNext()
  // Without a second try, as when the server stops.
  await assert.rejects(
    finisher.finish(outcome, AbortSignal.abort(new Error('stopping'))),
    /stopping/,
  )
  await finisher.finish(outcome, signal)
  assert.equal(finisher.isLost, false)
  const { status, result } = (await findJob(db, { id: job.id, account: job.account }))!
  assert.equal(status, 'done')
  assert.equal(await readResult(db, result!), long)
  assert.equal((await Array.fromAsync(db.objects.list())).flat().length, 1)
})

test('failed writes are tried again less and less often, up to a limit', async () => {
  const times: number[] = []
  async function store() {
    times.push(performance.now())
    if (times.length < 15) throw new Error('the store is full')
  }
  const { signal } = new AbortController()
  const options = { signal, log: createLog('silent'), sessionId: 'one', retryMs: 2 }
  await retryUntilStored(store, options)
  const pauses = times.slice(1).map((time, i) => time - times[i]!)
  // A timer can fire up to one millisecond early.
  assert.ok(pauses[3]! >= 15, `${pauses}`)
  assert.ok(pauses.at(-1)! < 2 ** 14, `${pauses}`)
})
