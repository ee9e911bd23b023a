import assert from 'node:assert/strict'
import type { Db } from '../../../../src/storage/database/db.ts'
import { deleteEndedJob } from '../../../../src/storage/jobs/deletion/delete-job.ts'
import { finishJob } from '../../../../src/storage/jobs/finish-job.ts'
import {
  deleteShare,
  findShare,
  insertShare,
  listShares,
  type Share,
} from '../../../../src/storage/jobs/shares.ts'
import { addJob, claim } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Links that show a job without a key. */
export const shareTests = createSuite()
const { test } = shareTests

const account = 'acme'

async function openShare(db: Db, given: Partial<Share> = {}) {
  await addJob(db)
  const { id: jobId, lease } = (await claim(db))!
  await finishJob(db, lease, { result: {}, at: 2000 })
  const times = { createdAt: 1000, expiresAt: 5000 }
  const share = { id: 'a', account, jobId, ...times, isEdited: false, keyName: 'Ann', ...given }
  assert.equal(await insertShare(db, { ...share, hash: 'A' }), 'stored')
  return { share, jobId }
}

test('a share link is found by its hash until it ends or its account ends it', async ({ db }) => {
  const { share, jobId } = await openShare(db, { isEdited: true })
  assert.deepEqual(await findShare(db, 'A', { now: 4999 }), share)
  assert.equal(await findShare(db, 'A', { now: 5000 }), undefined)
  assert.equal(await findShare(db, 'B', { now: 1000 }), undefined)
  const list = (account: string, now = 1000) => listShares(db, { jobId, account }, { now })
  assert.deepEqual(await list(account), [share])
  assert.deepEqual([await list('other'), await list(account, 5000)], [[], []])
  assert.equal(await deleteShare(db, { ...share, account: 'other' }), false)
  assert.equal(await deleteShare(db, { ...share, jobId: 'other' }), false)
  assert.equal(await deleteShare(db, share), true)
  assert.equal(await findShare(db, 'A', { now: 1000 }), undefined)
})

test('a job has a limited number of links, deleted with it', async ({ db }) => {
  const { share, jobId } = await openShare(db)
  const add = (n: number, given: Partial<Share> = {}) =>
    insertShare(db, { ...share, id: `${n}`, hash: `${n}`, expiresAt: 9000, ...given })
  for (let n = 1; n < 100; n++) assert.equal(await add(n), 'stored')
  assert.equal(await add(100), 'full')
  // The first one has ended.
  assert.equal(await add(100, { createdAt: 5000 }), 'stored')
  assert.equal(await add(101, { jobId: 'none' }), 'gone')
  assert.equal(await add(101, { account: 'other' }), 'gone')
  await deleteEndedJob(db, { id: jobId, account })
  assert.equal(await findShare(db, '1', { now: 1000 }), undefined)
})
