import assert from 'node:assert/strict'
import test from 'node:test'
import { parseRetryAfter } from './retry-after.ts'

const now = Date.parse('2026-03-01T12:00:00Z')

const cases: [text: string | undefined, ms: number | undefined][] = [
  ['7', 7000],
  [' 120 ', 120_000],
  ['0', 1000],
  ['3600', 3_600_000],
  ['86400', 3_600_000],
  ['99999999999999999999', 3_600_000],
  ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', 1000],
  ['Sun, 01 Mar 2027 12:00:00 GMT', 3_600_000],
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['2026-03-01T12:00:30Z', undefined],
]

test('Retry-After is parsed as seconds or a date, from one second to an hour', () => {
  for (const [text, ms] of cases) assert.equal(parseRetryAfter(text, { now }), ms, text)
})
