import assert from 'node:assert/strict'
import { countStoredBytes } from '../../../../src/storage/accounts/account-bytes.ts'
import type { Db } from '../../../../src/storage/database/db.ts'
import { deleteEndedJob } from '../../../../src/storage/jobs/deletion/delete-job.ts'
import { deleteExpiredJobs } from '../../../../src/storage/jobs/deletion/retention.ts'
import { finishJob } from '../../../../src/storage/jobs/finish-job.ts'
import {
  findEditedSize,
  insertTranscriptVersion,
  listTranscriptVersions,
  type NewTranscriptVersion,
  readTranscriptChanges,
} from '../../../../src/storage/jobs/transcript-edits.ts'
import { addJob, claim } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Corrections of transcripts, by version. */
export const transcriptEditTests = createSuite()
const { test } = transcriptEditTests

const account = 'acme'

async function addDone(db: Db): Promise<string> {
  await addJob(db)
  const { id, lease } = (await claim(db))!
  await finishJob(db, lease, { result: {}, at: 2000 })
  return id
}

function edit(version: number, given: Partial<NewTranscriptVersion> = {}): NewTranscriptVersion {
  const made = { createdAt: 1000 + version, keyName: null, restored: null, operations: 1 }
  return { ...made, version, changes: `change ${version}`, ...given }
}

test('versions are listed newest first, and their changes read oldest first', async ({ db }) => {
  const jobId = await addDone(db)
  assert.deepEqual(await findEditedSize(db, jobId), { version: 0, bytes: 0 })
  assert.deepEqual(await readTranscriptChanges(db, jobId, 0), [])
  assert.equal(await readTranscriptChanges(db, jobId, 1), undefined)
  const all = [
    edit(1, { keyName: 'Ann', changes: 'ä' }),
    edit(2),
    edit(3),
    edit(4, { restored: 2, changes: '' }),
    edit(5, { operations: 7 }),
  ]
  for (const one of all) {
    assert.equal(await insertTranscriptVersion(db, { jobId, account }, one), true)
  }
  const listed = await listTranscriptVersions(db, jobId, { limit: 4 })
  const views = all.map(({ changes: _, ...view }) => view)
  assert.deepEqual(listed, views.slice(1).reverse())
  assert.deepEqual(await findEditedSize(db, jobId), { version: 5, bytes: 2 + 3 * 8 })
  assert.deepEqual(await readTranscriptChanges(db, jobId, 3), ['ä', 'change 2', 'change 3'])
  assert.deepEqual(await readTranscriptChanges(db, jobId, 5), ['ä', 'change 2', 'change 5'])
})

test('of concurrent writers of one version one succeeds', async ({ db }) => {
  const jobId = await addDone(db)
  const store = (given: { jobId?: string; account?: string } = {}) =>
    insertTranscriptVersion(db, { jobId, account, ...given }, edit(1))
  const stored = await Promise.all([store(), store(), store()])
  assert.deepEqual(stored.sort(), [false, false, true])
  assert.equal(await store({ account: 'other' }), false)
  const waiting = await addJob(db)
  assert.equal(await store({ jobId: waiting! }), false)
  assert.equal(await store({ jobId: 'none' }), false)
})

test("corrections count for the account's bytes and are deleted with the job", async ({ db }) => {
  const held = async () => (await countStoredBytes(db, account)).accountBytes
  const remove = {
    one: (id: string) => deleteEndedJob(db, { id, account }),
    expired: () => deleteExpiredJobs(db, { endedBefore: 3000 }),
  }
  for (const how of ['one', 'expired'] as const) {
    const jobId = await addDone(db)
    const before = await held()
    await insertTranscriptVersion(db, { jobId, account }, edit(1, { changes: 'é'.repeat(50) }))
    assert.equal((await held()) - before, 100)
    await remove[how](jobId)
    assert.equal(await held(), 0)
    assert.deepEqual(await findEditedSize(db, jobId), { version: 0, bytes: 0 })
  }
})
