import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseByteRange } from './byte-range.ts'

const cases: [header: string | undefined, expected: string][] = [
  ['bytes=0-3', '0-3'],
  ['bytes=4-', '4-9'],
  ['bytes=-3', '7-9'],
  ['bytes=-30', '0-9'],
  ['bytes=8-30', '8-9'],
  ['bytes=9-9', '9-9'],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=10-12', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  [undefined, 'all'],
  ['', 'all'],
  ['bytes=-', 'all'],
  ['bytes=3-1', 'all'],
  ['bytes=0-1,4-5', 'all'],
  ['items=0-1', 'all'],
  ['bytes=a-b', 'all'],
]

for (const [header, expected] of cases) {
  test(`parseByteRange reads ${header} of ten bytes as ${expected}`, () => {
    const range = parseByteRange(header, 10)
    const text = typeof range === 'object' ? `${range.start}-${range.end}` : (range ?? 'all')
    assert.equal(text, expected)
  })
}
