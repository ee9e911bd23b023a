import assert from 'node:assert/strict'
import { inTransaction } from '../../../../src/storage/database/db.ts'
import { deleteExpiredJobs } from '../../../../src/storage/jobs/deletion/retention.ts'
import { addFile, addJob } from '../../../support/jobs/test-jobs.ts'
import { createSuite } from '../suite.ts'

/** Jobs that are deleted for their age. */
export const retentionTests = createSuite()
const { test } = retentionTests

test('expired jobs are deleted with their recordings, others are kept', async ({ db }) => {
  const fileId = await addFile(db)
  const shared = await addFile(db)
  const [old, recent, active] = [
    (await addJob(db, { fileId }))!,
    (await addJob(db, { fileId: shared }))!,
    (await addJob(db, { fileId: shared }))!,
  ]
  const oldToo = (await addJob(db, { fileId: shared }))!
  async function end(id: string, at: number) {
    await db.sql
      .updateTable('jobs')
      .set({ status: 'done', completed_at: at })
      .where('id', '=', id)
      .execute()
  }
  await end(old, 10)
  await end(oldToo, 20)
  await end(recent, 100)
  const deleted = await deleteExpiredJobs(db, { endedBefore: 100 })
  assert.deepEqual(deleted, { ids: [old, oldToo], objects: [fileId] })
  const left = await db.sql.selectFrom('jobs').select('id').execute()
  assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([recent, active]))
})

test('many jobs are deleted in batches, oldest first', async ({ db }) => {
  await inTransaction(db, async (tx) => {
    for (let i = 0; i < 130; i++) await addJob(tx, { createdAt: i + 1, maxQueued: 1000 })
  })
  await db.sql
    .updateTable('jobs')
    .set((row) => ({ status: 'done', completed_at: row.ref('created_at') }))
    .execute()
  const sizes = []
  for (let more = true; more; ) {
    const { ids } = await deleteExpiredJobs(db, { endedBefore: 1000 })
    sizes.push(ids.length)
    more = ids.length > 0
  }
  assert.deepEqual(sizes, [100, 30, 0])
})
