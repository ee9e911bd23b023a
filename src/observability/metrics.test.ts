import assert from 'node:assert/strict'
import test from 'node:test'
import { createMetrics, measureProcess, outcomeOf } from './metrics.ts'

test('metrics of two servers in one process are separate', async () => {
  const [one, other] = [createMetrics(), createMetrics()]
  one.jobsEnded.inc({ kind: 'live', outcome: 'done' })
  const count = async ({ jobsEnded }: typeof one) => {
    const { values } = await jobsEnded.get()
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  assert.deepEqual([await count(one), await count(other)], [1, 0])
})

test('a failed job counts as a client error below code 500', () => {
  assert.deepEqual(
    [400, 499, 500, 503].map((code) => outcomeOf({ code })),
    ['client_error', 'client_error', 'server_error', 'server_error'],
  )
})

test('every counter is exported before its first event', async () => {
  const metrics = await createMetrics().registry.getMetricsAsJSON()
  const hidden = metrics.filter(({ type, values }) => {
    return String(type) === 'counter' && values.length === 0
  })
  assert.deepEqual(hidden, [])
})

test('process metrics are exported except those that may be NaN', async () => {
  const metrics = createMetrics()
  measureProcess(metrics)
  const names = (await metrics.registry.getMetricsAsJSON()).map(({ name }) => name)
  assert.ok(names.includes('nodejs_eventloop_lag_p99_seconds'))
  assert.ok(names.includes('process_cpu_seconds_total'))
  assert.ok(!names.includes('nodejs_eventloop_lag_mean_seconds'))
})
