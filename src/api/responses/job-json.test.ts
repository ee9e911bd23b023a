import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { addJob, claim } from '../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { finishJob } from '../../storage/jobs/finish-job.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import { MAX_INLINE_RESULT_BYTES, replaceResult } from '../../storage/jobs/results.ts'
import { toJobJson, writeText } from './job-json.ts'

const long = { text: 'x'.repeat(MAX_INLINE_RESULT_BYTES) }

async function openDone(t: TestContext) {
  const storage = await openTestStorage(t)
  const { db } = storage
  await addJob(db)
  const { id, lease } = (await claim(db))!
  await finishJob(db, lease, { result: long, at: 2000 })
  return { storage, db, job: (await findJob(db, { id, account: 'acme' }))! }
}

test('a result that is replaced after its row was read is returned in its new form', async (t) => {
  for (const now of [{ short: 1 }, { ...long, again: 1 }]) {
    const { storage, db, job } = await openDone(t)
    await replaceResult(db, { jobId: job.id, stored: job.result! }, now)
    const text = (await toJobJson(job, storage))!
    const chunks = typeof text === 'string' ? [text] : await Array.fromAsync(writeText(text))
    const reported = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)))
    assert.deepEqual(JSON.parse(reported.toString()).result, now)
    if (typeof text !== 'string') assert.equal(reported.length, text.bytes)
  }
})

test('a lost result, or one of a deleted job, is not returned', async (t) => {
  const { storage, db, job } = await openDone(t)
  await db.objects.delete((job.result as { object: string }).object)
  assert.equal(await toJobJson(job, storage), undefined)
  await db.sql.deleteFrom('jobs').execute()
  assert.equal(await toJobJson(job, storage), undefined)
})
