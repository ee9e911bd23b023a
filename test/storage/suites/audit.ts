import assert from 'node:assert/strict'
import {
  type Actor,
  type AuditFilter,
  deleteAudit,
  listAudit,
  recordAudit,
} from '../../../src/storage/accounts/audit-log.ts'
import { deleteKey, insertKey } from '../../../src/storage/accounts/keys.ts'
import { type Db, inTransaction } from '../../../src/storage/database/db.ts'
import { deleteEndedJob } from '../../../src/storage/jobs/deletion/delete-job.ts'
import { deleteExpiredJobs } from '../../../src/storage/jobs/deletion/retention.ts'
import { failJob } from '../../../src/storage/jobs/finish-job.ts'
import { addJob, claim } from '../../support/jobs/test-jobs.ts'
import { createSuite } from './suite.ts'

/** Who did what. */
export const auditTests = createSuite()
const { test } = auditTests

const account = 'acme'
const by: Actor = { source: 'api', keyId: 'st_a', address: '192.0.2.1' }

async function list(db: Db, filter: AuditFilter = {}) {
  const { entries } = await listAudit(db, filter, { offset: 0, limit: 100 })
  return entries.map((one) => ({ ...one, details: JSON.parse(one.details) as object }))
}

async function endJob(db: Db): Promise<string> {
  const id = (await addJob(db))!
  await failJob(db, (await claim(db))!.lease, { failure: { code: 500, message: 'x' }, at: 2000 })
  return id
}

test('creating and revoking keys is logged without their secret', async ({ db }) => {
  const key = { hash: 'hash', account, prefix: 'st_b', createdAt: 1, name: 'n' }
  await insertKey(db, key, { source: 'command', user: 'root' })
  assert.equal(await deleteKey(db, 'st_b', by), true)
  assert.equal(await deleteKey(db, 'st_b', by), false)
  const [made] = await list(db, { actions: ['key.created'] })
  const { id, at, ...entry } = made!
  assert.ok(id && Math.abs(at - Date.now()) < 60_000)
  assert.deepEqual(entry, {
    action: 'key.created',
    source: 'command',
    account,
    subject: 'st_b',
    keyId: null,
    address: null,
    details: { user: 'root', name: 'n', scopes: ['read', 'write', 'live'], expires_at: null },
  })
  const [revoked, ...others] = await list(db, { keyId: 'st_a' })
  assert.deepEqual([revoked!.action, revoked!.address, others], ['key.revoked', '192.0.2.1', []])
  assert.ok(!JSON.stringify(await list(db)).includes('hash'))
})

test('a deletion is logged only if it was committed', async ({ db }) => {
  const [first, second, third] = [await endJob(db), await endJob(db), await endJob(db)]
  await inTransaction(db, (tx) => deleteEndedJob(tx, { id: first, account }, by))
  await inTransaction(db, (tx) => deleteEndedJob(tx, { id: first, account }, by))
  const undone = inTransaction(db, async (tx) => {
    await deleteEndedJob(tx, { id: second, account }, by)
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  assert.deepEqual(
    (await list(db)).map(({ subject, keyId }) => [subject, keyId]),
    [[first, 'st_a']],
  )
  await deleteExpiredJobs(db, { endedBefore: 3000 })
  const expired = (await list(db)).filter(({ source }) => source === 'retention')
  assert.deepEqual(expired.map(({ subject }) => subject).sort(), [second, third].sort())
})

test('the log is listed newest first, filtered and in pages, and old entries expire', async ({
  db,
}) => {
  for (let n = 0; n < 5; n++) {
    const subject = `job ${n}`
    await recordAudit(db, { action: 'job.deleted', account: n < 3 ? 'a' : 'b', subject }, by)
    await db.sql.updateTable('audit_log').set({ at: n }).where('subject', '=', subject).execute()
  }
  const page = await listAudit(db, {}, { offset: 1, limit: 2 })
  assert.deepEqual([page.entries.map(({ at }) => at), page.more], [[3, 2], true])
  const times = async (filter: AuditFilter) => (await list(db, filter)).map(({ at }) => at)
  assert.deepEqual(await times({ account: 'a', from: 1 }), [2, 1])
  assert.deepEqual(await times({ before: 2 }), [1, 0])
  assert.deepEqual(await times({ subject: 'job 4', actions: ['job.deleted'] }), [4])
  assert.deepEqual(await times({ actions: ['server.started'] }), [])
  await deleteAudit(db, { before: 3 })
  assert.deepEqual(await times({}), [4, 3])
})
