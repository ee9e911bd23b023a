import assert from 'node:assert/strict'
import test from 'node:test'
import { addJob, claim, returnLost } from '../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { findJob } from '../jobs/jobs.ts'
import { saveFetchedRecording } from './fetched-recording.ts'
import { findRecording } from './recordings.ts'

test('a fetched recording becomes the file of its job unless the lease was lost', async (t) => {
  const { db } = await openTestStorage(t)
  const id = (await addJob(db))!
  const stale = (await claim(db))!
  await returnLost(db, { now: 100_000 })
  const job = (await claim(db, { now: 100_000 }))!
  const { id: fileId, filename, source } = job.file
  const account = 'acme'
  const known = { id: fileId, account, filename, source, extension: 'mp3', size: 9, createdAt: 1 }
  const file = { ...known, duration: 2.5, channels: 2 }

  assert.equal(await saveFetchedRecording(db, stale.lease, file), false)
  assert.equal(await findRecording(db, { id: fileId, account }), undefined)
  assert.equal(await saveFetchedRecording(db, job.lease, file), true)
  assert.deepEqual(await findRecording(db, { id: fileId, account }), file)
  const shown = (await findJob(db, { id, account }))?.file
  assert.deepEqual([shown?.duration, shown?.channels], [2.5, 2])
})
