import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addJob, claim, resultOf } from '../../../test/support/jobs/test-jobs.ts'
import { createLossyDatabase } from '../../../test/support/storage/databases/lossy-database.ts'
import {
  makeFolder,
  openFolder,
  openTestStorage,
} from '../../../test/support/storage/test-storage.ts'
import { type Db, inTransaction } from '../database/db.ts'
import { deleteEndedJob } from './deletion/delete-job.ts'
import { finishJob, hasEnded } from './finish-job.ts'
import { findJob } from './jobs.ts'
import {
  deleteResultObject,
  MAX_INLINE_RESULT_BYTES,
  type ReadResult,
  readResult,
  replaceResult,
  resultLocation,
  storeResultText,
} from './results.ts'

/** Yields chunks one by one, and records how far they were read. */
function piecesOf(texts: readonly string[]) {
  const seen = { read: 0, isClosed: false }
  async function* chunks(): AsyncGenerator<string> {
    try {
      for (const text of texts) {
        seen.read++
        yield text
      }
    } finally {
      seen.isClosed = true
    }
  }
  return { seen, chunks: chunks() }
}

test('a result is stored in its row up to the limit, beyond it as an object', async (t) => {
  const { db } = await openTestStorage(t)
  const full = 'ü'.repeat(MAX_INLINE_RESULT_BYTES / 2)
  for (const [texts, where] of [
    [[], 'row'],
    [['{', '"a":1}'], 'row'],
    [[full.slice(10), 'ü'.repeat(10)], 'row'],
    [[full, 'x', full], 'object'],
  ] as const) {
    const { chunks, seen } = piecesOf(texts)
    const stored = await storeResultText(db, chunks)
    assert.equal(stored.result_object === null ? 'row' : 'object', where)
    assert.equal(await readResult(db, resultLocation(stored)!), texts.join(''))
    assert.deepEqual(seen, { read: texts.length, isClosed: true })
    await deleteResultObject(db, stored)
    assert.deepEqual(await Array.fromAsync(db.objects.list()), [])
  }
})

test('a failed write leaves no object and closes its source', async (t) => {
  const { db } = await openTestStorage(t)
  const { chunks, seen } = piecesOf(['x'.repeat(MAX_INLINE_RESULT_BYTES + 1), 'y', 'z'])
  const objects = {
    ...db.objects,
    async write() {
      throw new Error('no')
    },
  }
  await assert.rejects(storeResultText({ ...db, objects }, chunks), /no/)
  assert.deepEqual(seen, { read: 1, isClosed: true })
  assert.deepEqual(await Array.fromAsync(db.objects.list()), [])
})

const long = { text: 'x'.repeat(MAX_INLINE_RESULT_BYTES) }

async function addDone(db: Db, result: object): Promise<ReadResult> {
  await addJob(db)
  const { id, lease } = (await claim(db))!
  await finishJob(db, lease, { result: { ...result }, at: 2000 })
  const { result: stored } = (await findJob(db, { id, account: 'acme' }))!
  return { jobId: id, stored: stored! }
}

async function resultNow(db: Db, { jobId: id }: ReadResult) {
  return resultOf(db, (await findJob(db, { id, account: 'acme' }))!)
}

test('a result is replaced only if it has not changed since it was read', async (t) => {
  const { db } = await openTestStorage(t)
  for (const first of [{ short: 1 }, long]) {
    const read = await addDone(db, first)
    const other = await addDone(db, first)
    assert.equal(await replaceResult(db, read, { second: 1 }), true)
    assert.equal(await replaceResult(db, read, { third: 1, ...long }), false)
    assert.deepEqual(await resultNow(db, read), { second: 1 })
    assert.deepEqual(await resultNow(db, other), first)
  }
  assert.equal((await Array.fromAsync(db.objects.list())).flat().length, 1, 'that of the other job')
})

test('a failed replacement keeps the old result', async (t) => {
  const { db } = await openTestStorage(t)
  const read = await addDone(db, long)
  const transaction = () => ({ execute: async () => Promise.reject(new Error('no room')) })
  const sql = { transaction } as unknown as Db['sql']
  await assert.rejects(replaceResult({ ...db, sql }, read, long), /no room/)
  assert.deepEqual(await resultNow(db, read), long)
  assert.equal((await Array.fromAsync(db.objects.list())).flat().length, 1)
})

test('a result whose commit response is lost is kept', async (t) => {
  const { db } = await openTestStorage(t)
  const lossy = createLossyDatabase(db)
  await addJob(db)
  const { id, lease } = (await claim(db))!
  lossy.loseNext()
  const end = { result: long, at: 2000 }
  await assert.rejects(finishJob(lossy.db, lease, end), /Connection terminated/)
  assert.equal(await finishJob(lossy.db, lease, end), false)
  assert.equal(await hasEnded(db, lease, 'done'), true)
  assert.equal(await hasEnded(db, { id, epoch: lease.epoch + 1 }, 'done'), false)
  const { result: stored } = (await findJob(db, { id, account: 'acme' }))!
  const read = { jobId: id, stored: stored! }
  assert.deepEqual(await resultNow(db, read), long)
  assert.equal((await Array.fromAsync(db.objects.list())).flat().length, 1)
  lossy.loseNext()
  await assert.rejects(replaceResult(lossy.db, read, { ...long, second: 1 }), /terminated/)
  assert.deepEqual(await resultNow(db, read), { ...long, second: 1 })
})

test('a server killed during a replacement leaves the old or the new result', async (t) => {
  const folder = await makeFolder(t)
  for (const killedAt of ['transaction', 'delete']) {
    const before = await openFolder(folder)
    const { db } = before
    const read = await addDone(db, long)
    const kill = () => {
      throw new Error('killed')
    }
    const killed = { ...db, deletions: { delete: kill } as unknown as Db['deletions'] }
    if (killedAt === 'transaction') killed.sql = { transaction: kill } as unknown as Db['sql']
    await assert.rejects(replaceResult(killed, read, { ...long, second: 1 }))
    assert.equal((await Array.fromAsync(db.objects.list())).flat().length, 2)
    await before.close()
    const after = await openFolder(folder)
    await after.swept
    const isReplaced = killedAt === 'delete'
    const expected = isReplaced ? { ...long, second: 1 } : long
    assert.deepEqual(await resultNow(after.db, read), expected)
    assert.equal((await Array.fromAsync(after.db.objects.list())).flat().length, 1)
    const { id, account } = { id: read.jobId, account: 'acme' }
    const removed = await inTransaction(after.db, (tx) => deleteEndedJob(tx, { id, account }))
    for (const object of removed!.objects) await after.db.objects.delete(object)
    await after.close()
  }
})
