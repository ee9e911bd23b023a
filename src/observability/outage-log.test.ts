import assert from 'node:assert/strict'
import test from 'node:test'
import { captureLog } from '../../test/support/server/captured-log.ts'
import { OutageLog } from './outage-log.ts'

test('an outage is logged when it begins, once a minute, and when it ends', () => {
  let now = 0
  const { log, lines } = captureLog()
  const messages = { failed: 'cannot read', recovered: 'reading again' }
  const outages = new OutageLog(log, { level: 'warn', ...messages, now: () => now })
  outages.succeeded()
  for (; now < 150_000; now += 1000) outages.failed(new Error('the database is away'))
  outages.succeeded()
  outages.succeeded()
  outages.failed(new Error('the database is away'))
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    [...Array(3).fill('cannot read'), 'reading again', 'cannot read'],
  )
})
