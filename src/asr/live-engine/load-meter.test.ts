import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoadMeter } from './load-meter.ts'

test('the load averages the work of the last seconds per core', async () => {
  let now = 0
  const meter = createLoadMeter(2, () => now)
  assert.equal(meter.load, 0)
  const tasks = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  const counted = tasks.map(({ promise }) => meter.during(promise))
  now += 60_000
  assert.ok(Math.abs(meter.load - 1.5) < 0.01, `${meter.load}`)
  for (const { resolve } of tasks) resolve()
  await Promise.all(counted)
  now += 3000
  assert.ok(Math.abs(meter.load - 1.5 / Math.E) < 0.01, `${meter.load}`)
})

test('a failed task counts as load only until it fails', async () => {
  let now = 0
  const meter = createLoadMeter(1, () => now)
  await assert.rejects(meter.during(Promise.reject(new Error('lost'))))
  now += 60_000
  assert.equal(meter.load, 0)
})
