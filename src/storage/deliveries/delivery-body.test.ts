import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { callbackTo, endNewJob, takeAll } from '../../../test/support/delivery/test-deliveries.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { type Db, inTransaction } from '../database/db.ts'
import { deleteEndedJob } from '../jobs/deletion/delete-job.ts'
import { MAX_INLINE_RESULT_BYTES, replaceResult } from '../jobs/results.ts'
import { type DeliveryBody, openDeliveryBody } from './delivery-body.ts'

const params = callbackTo('https://app.example/hook')

async function textOf(body: DeliveryBody | undefined): Promise<string> {
  const bytes = Buffer.concat(await Array.fromAsync(body!.chunks()))
  assert.equal(bytes.length, body!.bytes)
  return bytes.toString()
}

async function openOnly(db: Db) {
  const [delivery] = await takeAll(db)
  return openDeliveryBody(db, delivery!)
}

test("the body of a callback is the stored result with the job's metadata", async (t) => {
  const { db } = await openTestStorage(t)
  const result = { metadata: { audio_duration: 1 }, transcription: { full_transcript: '“é”' } }
  const id = await endNewJob(db, { params, metadata: { team: 'red' }, result })
  const body = await openOnly(db)
  const event = 'transcription.success'
  const reported = { id, event, payload: result, custom_metadata: { team: 'red' } }
  assert.equal(await textOf(body), JSON.stringify(reported))
  assert.equal(await textOf(body), JSON.stringify(reported), 'as often as it is asked for')
})

test('the body of a failed job has the error and no absent metadata', async (t) => {
  const { db } = await openTestStorage(t)
  const id = await endNewJob(db, { params })
  const error = { code: 404, message: 'Cannot find the audio' }
  const reported = { id, event: 'transcription.error', error }
  assert.equal(await textOf(await openOnly(db)), JSON.stringify(reported))
})

test('a long result is sent in chunks', async (t) => {
  const { db } = await openTestStorage(t)
  const result = { words: Array.from({ length: 50_000 }, (_, i) => `word ${i}`) }
  const id = await endNewJob(db, { params, metadata: { team: 'red' }, result })
  const body = await openOnly(db)
  const reported = { id, event: 'transcription.success', payload: result }
  const text = JSON.stringify({ ...reported, custom_metadata: { team: 'red' } })
  assert.equal(await textOf(body), text)
  assert.equal(await textOf(body), text)
  assert.ok((await Array.fromAsync(body!.chunks())).length > 5)
})

test('a message with its own body is sent unchanged, from its row or object', async (t) => {
  const { db } = await openTestStorage(t)
  const common = { jobId: randomUUID(), event: 'live.transcript' }
  const short = await openDeliveryBody(db, { ...common, body: '{"short":1}', bodyObject: null })
  assert.equal(await textOf(short), '{"short":1}')
  const id = randomUUID()
  const limits = { maxBytes: 1e6, signal: new AbortController().signal }
  async function* source() {
    yield Buffer.from('{"long":1}')
  }
  await db.objects.write(id, source(), limits)
  const long = await openDeliveryBody(db, { ...common, body: null, bodyObject: id })
  assert.equal(await textOf(long), '{"long":1}')
})

test('a deleted job or object has no delivery body', async (t) => {
  const { db } = await openTestStorage(t)
  const result = { words: 'x'.repeat(300_000) }
  const id = await endNewJob(db, { params, result })
  const [delivery] = await takeAll(db)
  const objects = (await inTransaction(db, (tx) => deleteEndedJob(tx, { id, account: 'acme' })))!
  assert.equal(await openDeliveryBody(db, delivery!), undefined)
  for (const object of objects.objects) {
    if (object !== delivery?.bodyObject) await db.objects.delete(object)
    const gone = { ...delivery!, bodyObject: object }
    assert.equal(await openDeliveryBody(db, gone), undefined)
  }
})

test('a body uses the new result if it is replaced while opened', async (t) => {
  const { db } = await openTestStorage(t)
  const result = { words: 'x'.repeat(MAX_INLINE_RESULT_BYTES) }
  const id = await endNewJob(db, { params, result })
  const row = await db.sql.selectFrom('jobs').select('result_object').executeTakeFirstOrThrow()
  const stored = { object: row.result_object! }
  let isReplaced = false
  /** Replaced after the row is read and before the object is opened. */
  async function check(object: string) {
    if (!isReplaced) await replaceResult(db, { jobId: id, stored }, { ...result, again: 1 })
    isReplaced = true
    return db.objects.check(object)
  }
  const body = await openOnly({ ...db, objects: { ...db.objects, check } })
  const reported = { id, event: 'transcription.success', payload: { ...result, again: 1 } }
  assert.equal(await textOf(body), JSON.stringify(reported))
})

test('a body whose result is lost is undefined', async (t) => {
  const { db } = await openTestStorage(t)
  await endNewJob(db, { params, result: { words: 'x'.repeat(MAX_INLINE_RESULT_BYTES) } })
  for (const object of (await Array.fromAsync(db.objects.list())).flat()) {
    await db.objects.delete(object)
  }
  assert.equal(await openOnly(db), undefined)
})
