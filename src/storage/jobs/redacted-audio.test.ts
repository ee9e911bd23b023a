import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { addFile, addJob, claim, returnLost } from '../../../test/support/jobs/test-jobs.ts'
import { bytesOf } from '../../../test/support/storage/objects/objects-conformance.ts'
import {
  makeFolder,
  openFolder,
  openTestStorage,
} from '../../../test/support/storage/test-storage.ts'
import { type Db, inTransaction } from '../database/db.ts'
import { findRecording } from '../recordings/recordings.ts'
import { deleteEndedJob } from './deletion/delete-job.ts'
import { finishJob } from './finish-job.ts'
import { findJob } from './jobs.ts'

const account = 'acme'

/** Ends a new job on an upload with a redacted recording. */
async function endRedacted(db: Db, { fileId }: { fileId: string }) {
  await addJob(db, { fileId })
  const { id, lease } = (await claim(db))!
  const redactedAudio = { object: randomUUID(), size: 99 }
  assert.equal(await finishJob(db, lease, { result: {}, redactedAudio, at: 2000 }), true)
  return { id, redactedAudio }
}

function remove(db: Db, { id }: { id: string }) {
  return inTransaction(db, (tx) => deleteEndedJob(tx, { id, account }))
}

test('a redacted recording replaces the original under the same file id', async (t) => {
  const { db } = await openTestStorage(t)
  const fileId = await addFile(db)
  const { id, redactedAudio } = await endRedacted(db, { fileId })
  const job = await findJob(db, { id, account })
  assert.deepEqual([job?.redactedAudio, job?.file?.id], [redactedAudio, fileId])
  assert.equal(await findRecording(db, { id: fileId, account }), undefined)
  const { objects } = (await remove(db, { id }))!
  assert.ok(objects.includes(redactedAudio.object), 'it goes with its job')
})

test('the original is kept only as long as another job uses it', async (t) => {
  const { db } = await openTestStorage(t)
  const fileId = await addFile(db)
  await addJob(db, { fileId })
  const other = (await claim(db))!
  const { id } = await endRedacted(db, { fileId })
  const usual = await findJob(db, { id: other.id, account })
  assert.equal(usual?.redactedAudio, null)
  assert.ok(await findRecording(db, { id: fileId, account }))
  await finishJob(db, other.lease, { result: {}, at: 3000 })
  assert.ok(await findRecording(db, { id: fileId, account }))
  assert.deepEqual((await remove(db, other))!.objects, [fileId])
  assert.equal(await findRecording(db, { id: fileId, account }), undefined)
  assert.ok(await findJob(db, { id, account }))
})

test('of two jobs redacting one upload the last deletes it', async (t) => {
  const { db } = await openTestStorage(t)
  const fileId = await addFile(db)
  await addJob(db, { fileId })
  const first = (await claim(db))!
  await endRedacted(db, { fileId })
  assert.ok(await findRecording(db, { id: fileId, account }))
  const redactedAudio = { object: randomUUID(), size: 1 }
  await finishJob(db, first.lease, { result: {}, redactedAudio, at: 2000 })
  assert.equal(await findRecording(db, { id: fileId, account }), undefined)
})

test('a redaction with a lost lease changes nothing', async (t) => {
  const { db } = await openTestStorage(t)
  const fileId = await addFile(db)
  await addJob(db, { fileId })
  const { id, lease } = (await claim(db))!
  await returnLost(db, { now: 99_000 })
  const redactedAudio = { object: randomUUID(), size: 1 }
  assert.equal(await finishJob(db, lease, { result: {}, redactedAudio, at: 2000 }), false)
  assert.equal((await findJob(db, { id, account }))?.redactedAudio, null)
  assert.ok(await findRecording(db, { id: fileId, account }))
})

test('the start keeps redacted recordings and removes leftovers of a killed server', async (t) => {
  const folder = await makeFolder(t)
  const first = await openFolder(folder)
  const fileId = await addFile(first.db)
  const { redactedAudio } = await endRedacted(first.db, { fileId })
  for (const id of [redactedAudio.object, fileId, randomUUID()]) {
    await first.objects.write(id, bytesOf('x'), { maxBytes: 1, signal: t.signal })
  }
  await first.close()
  const second = await openFolder(folder)
  t.after(() => second.close())
  await second.swept
  assert.deepEqual(await Array.fromAsync(second.objects.list()), [[redactedAudio.object]])
})
