import assert from 'node:assert/strict'
import test from 'node:test'
import { addFile, addJob, claim } from '../../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { finishJob } from '../../../storage/jobs/finish-job.ts'
import { findJob } from '../../../storage/jobs/jobs.ts'
import { findJobFile } from './job-file.ts'

test('a redacted recording is named after the original file name or the file id', async (t) => {
  const { db } = await openTestStorage(t)
  const fileId = await addFile(db)
  const id = (await addJob(db, { fileId }))!
  const { lease } = (await claim(db))!
  const redactedAudio = { object: 'o', size: 7 }
  await finishJob(db, lease, { result: {}, redactedAudio, at: 1 })
  const job = (await findJob(db, { id, account: 'acme' }))!
  for (const [filename, expected] of [
    ['talk.one.mp3', 'talk.one-redacted.wav'],
    ['talk', 'talk-redacted.wav'],
    [null, `${fileId}-redacted.wav`],
    ['', `${fileId}-redacted.wav`],
  ] as const) {
    const file = { ...job.file!, filename }
    const found = await findJobFile({ ...job, file }, { db, redacted: true })
    assert.deepEqual(found, { id: 'o', size: 7, filename: expected, extension: 'wav' })
  }
})
