import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { addJob } from '../../../../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../../observability/log.ts'
import { createMetrics } from '../../../../observability/metrics.ts'
import { LoadHistory } from './load-history.ts'

async function open(t: TestContext) {
  const storage = await openTestStorage(t)
  const metrics = createMetrics()
  const states = { new: 1, connected: 2, disconnected: 0 }
  const deps = { storage, metrics, live: { states } } as never
  return { ...storage, metrics, history: new LoadHistory(deps, createLog('silent')) }
}

test('a load point records the current queue and sessions', async (t) => {
  const { db, history } = await open(t)
  await addJob(db)
  await addJob(db)
  await history.record()
  const [point] = history.points
  assert.deepEqual([point!.queued, point!.processing, point!.sessions], [2, 0, 3])
  assert.deepEqual([point!.requestSeconds, point!.finalSeconds], [null, null])
})

test('a load point records the times and errors since the previous one', async (t) => {
  const { metrics, history } = await open(t)
  const answered = { method: 'GET', route: '/v2/live' }
  metrics.httpRequestSeconds.observe({ ...answered, status: 500 }, 20)
  metrics.workerRestarts.inc({ role: 'batch' })
  await history.record()
  metrics.httpRequestSeconds.observe({ ...answered, status: 200 }, 0.15)
  metrics.httpRequestSeconds.observe({ ...answered, status: 503 }, 0.15)
  metrics.liveFinalSeconds.observe(0.4)
  metrics.jobsEnded.inc({ kind: 'pre-recorded', outcome: 'server_error' }, 2)
  metrics.jobsEnded.inc({ kind: 'pre-recorded', outcome: 'client_error' }, 4)
  metrics.deliveriesEnded.inc({ kind: 'webhook', outcome: 'failed' })
  metrics.workerRestarts.inc({ role: 'vad' }, 3)
  await history.record()
  await history.record()
  const [first, second, third] = history.points
  const errorsOf = ({
    failedRequests,
    failedJobs,
    failedDeliveries,
    workerRestarts,
  }: NonNullable<typeof first>) => [failedRequests, failedJobs, failedDeliveries, workerRestarts]
  assert.deepEqual(errorsOf(first!), [0, 0, 0, 0])
  assert.deepEqual(errorsOf(second!), [1, 2, 1, 3])
  assert.deepEqual(errorsOf(third!), [0, 0, 0, 0])
  assert.ok(second!.requestSeconds! > 0.1 && second!.requestSeconds! <= 0.2)
  assert.ok(second!.finalSeconds! > 0.3 && second!.finalSeconds! <= 0.5)
  assert.equal(third!.requestSeconds, null)
})

test('uploads, downloads and streams are excluded from request times', async (t) => {
  const { metrics, history } = await open(t)
  await history.record()
  for (const route of ['/v2/events', '/v2/upload', '/file/:id', '/v2/live/:id/captions']) {
    metrics.httpRequestSeconds.observe({ method: 'GET', route, status: 200 }, 25)
  }
  await history.record()
  assert.equal(history.points[1]!.requestSeconds, null)
})

test('the load history covers half an hour', async (t) => {
  const { history } = await open(t)
  for (let i = 0; i < 182; i++) await history.record()
  assert.equal(history.points.length, 180)
})
