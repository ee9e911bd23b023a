import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from './arguments.ts'
import { formatDateTime, readDuration, readTimeAgo } from './date-time.ts'

const NOW = Date.parse('2026-05-01T10:00:00Z')

const past: [text: string, moment: string][] = [
  ['24h', '2026-04-30T10:00:00.000Z'],
  ['7d', '2026-04-24T10:00:00.000Z'],
  ['90m', '2026-05-01T08:30:00.000Z'],
  ['2026-05-01', '2026-05-01T00:00:00.000Z'],
  ['2026-05-01T12:00+02:00', '2026-05-01T10:00:00.000Z'],
]

for (const [text, moment] of past) {
  test(`${text} is read as ${moment}`, () => {
    assert.equal(new Date(readTimeAgo(text, { name: 'since', now: NOW })).toISOString(), moment)
  })
}

for (const text of ['', '24', 'h', '-1h', '1w', '2026-05-02', '2026-02-30', '123456d', 'now']) {
  test(`'${text}' is rejected as a past time`, () => {
    assert.throws(() => readTimeAgo(text, { name: 'since', now: NOW }), UsageError)
  })
}

test('a duration needs a unit and has a default', () => {
  const read = (text?: string) => readDuration(text, { name: 'overlap', fallback: '24h' })
  assert.deepEqual([read(), read('30m'), read('0h')], [86_400_000, 1_800_000, 0])
  const message = "--overlap must be a time such as 30m, 24h or 7d, not '5'"
  assert.throws(() => read('5'), { name: 'UsageError', message })
})

test('formatDateTime shows a time to the second', () => {
  assert.equal(formatDateTime(NOW + 999), '2026-05-01T10:00:00Z')
  assert.equal(formatDateTime(null), '-')
})
