import assert from 'node:assert/strict'
import test from 'node:test'
import { endNewJob } from '../../../../test/support/delivery/test-deliveries.ts'
import { filesHolding } from '../../../../test/support/storage/folder-search.ts'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { deleteDeliveredJobs } from './zero-retention.ts'

test('the database journal keeps no deleted content', async (t) => {
  const { db, folder } = await openTestStorage(t)
  const id = await endNewJob(db, { result: { text: 'Zanzibar' } as never })
  await db.sql.updateTable('jobs').set({ zero_retention: 1 }).execute()
  const needles = [Buffer.from('Zanzibar')]
  assert.notDeepEqual(await filesHolding(folder, needles), [])
  assert.deepEqual(await deleteDeliveredJobs(db, { waitedSince: 9000 }), [id])
  assert.deepEqual(await filesHolding(folder, needles), [])
})
