import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { addJob, claim, resultOf } from '../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import type { AppError } from '../../errors.ts'
import { createLog } from '../../observability/log.ts'
import { inTransaction } from '../../storage/database/db.ts'
import { deleteEndedJob } from '../../storage/jobs/deletion/delete-job.ts'
import { finishJob } from '../../storage/jobs/finish-job.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import { MAX_INLINE_RESULT_BYTES, readResult } from '../../storage/jobs/results.ts'
import type { Retry, RetryResult } from '../../text/result/steps/retry-add-on.ts'
import type { Services } from '../../text/service-add-ons/service-add-on.ts'
import { retryAddOn } from './add-on-retry.ts'

const account = 'acme'
const { signal } = new AbortController()
const log = createLog('silent')
const long = 'x'.repeat(MAX_INLINE_RESULT_BYTES)

type Work = (retry: Retry) => RetryResult | Promise<RetryResult>

/** Adds the name of the add-on to the result. */
function addName({ name, result }: Retry): RetryResult {
  const made = { ...JSON.parse(result), [name]: 'made' }
  return { outcome: 'made', result: JSON.stringify(made), response: `"${name}"` }
}

/** A finished job whose add-ons are built by `work`. */
async function openJob(t: TestContext, result: object, work: Work = addName, services?: Services) {
  const { db } = await openTestStorage(t)
  await addJob(db, { params: { sentences: true } })
  const job = (await claim(db))!
  await finishJob(db, job.lease, { result: { ...result }, at: 2000 })
  const { id } = job
  const resultBuilder = { retry: async (requested: Retry) => work(requested) }
  const deps = { db, log, services, resultBuilder, config: { addOnResults: 'native' as const } }
  return {
    db,
    id,
    retry: (name: string) => retryAddOn(deps, { id, account, name }, { signal }),
    remove: async () => {
      const deleted = await inTransaction(db, (tx) => deleteEndedJob(tx, { id, account }))
      for (const object of deleted!.objects) await db.objects.delete(object)
    },
    result: async () => resultOf(db, (await findJob(db, { id, account }))!),
    objects: async () => (await Array.fromAsync(db.objects.list())).flat(),
  }
}

function failsWith(code: string, text = '') {
  return (error: AppError) => error.code === code && error.message.includes(text)
}

test('a retried add-on replaces its part of the result and nothing else', async (t) => {
  const seen: Retry[] = []
  const { db, id, retry, result } = await openJob(t, { a: 1 }, (requested) => {
    seen.push(requested)
    return addName(requested)
  })
  const before = await findJob(db, { id, account })
  assert.equal(await retry('b'), '"b"')
  const { result: stored, ...after } = (await findJob(db, { id, account }))!
  assert.deepEqual({ ...after, result: before!.result }, before)
  assert.equal(await readResult(db, stored!), '{"a":1,"b":"made"}')
  assert.deepEqual(await result(), { a: 1, b: 'made' })
  const params = '{"model":"stt-1","sentences":true}'
  assert.deepEqual(seen, [{ name: 'b', result: '{"a":1}', params, format: 'native', served: [] }])
})

test('a long result is stored as a new object, and the old one deleted', async (t) => {
  const { retry, result, objects } = await openJob(t, { long })
  const [old] = await objects()
  await retry('b')
  const [now, ...others] = await objects()
  assert.deepEqual([others, now === old], [[], false])
  assert.deepEqual(await result(), { long, b: 'made' })
})

test('a result may move from its row to an object and back', async (t) => {
  const { retry, result, objects } = await openJob(t, { a: 1 }, ({ name }) => {
    const made = name === 'grow' ? { long } : { short: 1 }
    return { outcome: 'made', result: JSON.stringify(made), response: '1' }
  })
  await retry('grow')
  assert.deepEqual([(await objects()).length, await result()], [1, { long }])
  await retry('shrink')
  assert.deepEqual([await objects(), await result()], [[], { short: 1 }])
})

test("concurrent retries do not lose each other's results", async (t) => {
  for (const first of [{ a: 1 }, { long }]) {
    const { retry, result, objects } = await openJob(t, first)
    const names = ['b', 'c', 'd']
    await Promise.all(names.map(retry))
    assert.deepEqual(await result(), { ...first, b: 'made', c: 'made', d: 'made' })
    assert.equal((await objects()).length, 'long' in first ? 1 : 0)
  }
})

test('a retry of a job deleted meanwhile fails and stores nothing', async (t) => {
  for (const first of [{ a: 1 }, { long }]) {
    const { retry, remove, objects } = await openJob(t, first, async (requested) => {
      await remove()
      return addName({ ...requested, result: JSON.stringify({ long }) })
    })
    await assert.rejects(retry('b'), failsWith('job_not_found'))
    assert.deepEqual(await objects(), [])
  }
})

test('a lost result object is reported as storage_unreadable', async (t) => {
  const { db, retry, objects } = await openJob(t, { long })
  for (const id of await objects()) await db.objects.delete(id)
  await assert.rejects(retry('b'), failsWith('storage_unreadable'))
})

test('a rejected retry is reported and leaves the result unchanged', async (t) => {
  for (const [outcome, code, text] of [
    ['unknown', 'add_on_not_found', 'b'],
    ['unrepeatable', 'add_on_not_repeatable', 'create the job again'],
    ['not-requested', 'add_on_not_requested', 'b'],
    ['succeeded', 'add_on_succeeded', 'b'],
  ] as const) {
    const { retry, result } = await openJob(t, { a: 1 }, () => ({ outcome }))
    await assert.rejects(retry('b'), failsWith(code, text))
    assert.deepEqual(await result(), { a: 1 })
  }
})

test('only finished jobs allow retries', async (t) => {
  const { db } = await openTestStorage(t)
  const resultBuilder = { retry: async (requested: Retry) => addName(requested) }
  const deps = { db, log, resultBuilder, config: { addOnResults: 'string' as const } }
  const id = (await addJob(db))!
  const retry = (owner: string) => {
    return retryAddOn(deps, { id, account: owner, name: 'b' }, { signal })
  }
  await assert.rejects(retry(account), failsWith('job_not_done', 'queued'))
  await assert.rejects(retry('other'), failsWith('job_not_found', id))
  await claim(db)
  await assert.rejects(retry(account), failsWith('job_not_done', 'processing'))
})

test('an add-on with a service gets its answers, each requested once', async (t) => {
  const calls: unknown[] = []
  const services: Services = {
    addOns: {},
    async call(request, { account }) {
      calls.push([request, account])
      return 'Salut'
    },
  }
  const request = { service: 'translation', model: 'tiny', text: 'Hi' }
  let isChanged = false
  const job = await openJob(
    t,
    { a: 1 },
    async ({ name, result, serviceResponses }) => {
      if (name === 'other') return addName({ name, result, params: '{}', format: 'native' })
      if (!serviceResponses)
        return { outcome: 'prepared', prepared: { name, seconds: 0, requests: [request] } }
      // Another writer changes the result while the responses are merged.
      if (!isChanged) {
        isChanged = true
        await job.retry('other')
      }
      const made = { ...JSON.parse(result), [name]: serviceResponses }
      return { outcome: 'made', result: JSON.stringify(made), response: '1' }
    },
    services,
  )
  await job.retry('translation')
  assert.deepEqual(calls, [[request, account]])
  const { translation, ...others } = (await job.result()) as { translation: { responses: unknown } }
  assert.deepEqual([translation.responses, others], [['Salut'], { a: 1, other: 'made' }])
})
