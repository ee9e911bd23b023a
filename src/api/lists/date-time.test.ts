import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDateTime, toDateTime } from './date-time.ts'

for (const [text, iso] of [
  ['2026-03-04', '2026-03-04T00:00:00.000Z'],
  ['2026-03-04T05:06:07.089Z', '2026-03-04T05:06:07.089Z'],
  ['2026-03-04T05:06:07.089999', '2026-03-04T05:06:07.089Z'],
  ['2026-03-04 05:06', '2026-03-04T05:06:00.000Z'],
  ['2026-03-04t05:06z', '2026-03-04T05:06:00.000Z'],
  ['2026-03-04T01:00:00+02:00', '2026-03-03T23:00:00.000Z'],
  ['2026-03-04T01:00:00 02:00', '2026-03-03T23:00:00.000Z'],
  ['2026-03-04T23:00:00-0230', '2026-03-05T01:30:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
] as const) {
  test(`parseDateTime reads ${text} as ${iso}`, () =>
    assert.equal(parseDateTime(text), Date.parse(iso)))
}

for (const text of [
  ...[
    '',
    'x',
    '2026',
    '2026-3-4',
    '2026-02-30',
    '2026-13-01',
    '2025-02-29',
    '2026-03-04T',
    '0000-00-00',
  ],
  ...['2026-03-04T24:00', '2026-03-04T05:60', '2026-03-04T05:06:60', '2026-03-04T05:06x'],
  ...['2026-03-04T05:06+25:00', '2026-03-04T05:06+02:60', '2026-03-04Z', ' 2026-03-04'],
]) {
  test(`parseDateTime rejects '${text}'`, () => assert.equal(parseDateTime(text), undefined))
}

test('parseDateTime reads every date that toISOString writes', () => {
  const dates = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(fc.property(dates, (date) => parseDateTime(date.toISOString()) === date.getTime()))
})

test('parseDateTime never throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseDateTime(text)))
})

test('toDateTime writes every time as toISOString does', () => {
  const texts = [
    0, 1, -1, 999, 86_399_999, 86_400_000, 1_790_000_000_000.9, -1.5, 8.64e15, -8.64e15,
  ]
  for (const time of texts) assert.equal(toDateTime(time), new Date(time).toISOString())
  const times = fc.integer({ min: -8.64e15, max: 8.64e15 })
  fc.assert(fc.property(times, (time) => toDateTime(time) === new Date(time).toISOString()))
  const ofDays = fc.integer({ min: 1_790_000_000_000, max: 1_790_200_000_000 })
  fc.assert(fc.property(ofDays, (time) => toDateTime(time) === new Date(time).toISOString()))
  assert.throws(() => toDateTime(Number.NaN), RangeError)
})
