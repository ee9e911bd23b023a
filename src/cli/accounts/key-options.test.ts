import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from '../terminal/arguments.ts'
import { readExpiry, readLabel, readScopes } from './key-options.ts'

const NOW = Date.parse('2026-05-01T10:00:00Z')

const moments: [text: string, moment: string][] = [
  ['30d', '2026-05-31T10:00:00.000Z'],
  ['2026-05-02', '2026-05-02T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2026-05-01T10:01', '2026-05-01T10:01:00.000Z'],
  ['2026-05-01T10:00:00.5Z', '2026-05-01T10:00:00.500Z'],
  ['2026-06-01T00:30:00+02:00', '2026-05-31T22:30:00.000Z'],
]

for (const [text, moment] of moments) {
  test(`--expires ${text} means ${moment}`, () => {
    assert.equal(new Date(readExpiry(text, NOW)!).toISOString(), moment)
  })
}

const noMoments = ['', '0d', '30', 'd', '-1d', '999999d', '2026-05-01', '2026-05-01T10:00Z']
const noDates = ['2027-02-30', '2027-13-01', '2027-01-01T25:00', '2027-1-1', '1 May 2027', 'never']

for (const text of [...noMoments, ...noDates]) {
  test(`--expires '${text}' is rejected as invalid or past`, () => {
    assert.throws(() => readExpiry(text, NOW), UsageError)
  })
}

test('a key without --expires does not expire', () => {
  assert.equal(readExpiry(undefined, NOW), null)
})

test('scopes are deduplicated in a fixed order, and default to all but keys and admin', () => {
  assert.deepEqual(readScopes('live, read,live'), ['read', 'live'])
  assert.deepEqual(readScopes(undefined), ['read', 'write', 'live'])
  for (const text of ['', 'read,', 'Read', 'read write']) {
    assert.throws(() => readScopes(text), UsageError)
  }
})

test('a label is trimmed, limited to 100 characters and free of control characters', () => {
  assert.equal(readLabel(' Büro 2 ', { name: 'name' }), 'Büro 2')
  assert.equal(readLabel('x'.repeat(100), { name: 'name' }).length, 100)
  for (const text of ['', ' ', 'a\u001b[2J', 'a\nb', 'a\u202eb', 'x'.repeat(101)]) {
    assert.throws(() => readLabel(text, { name: 'name' }), /^UsageError: --name must be 1 to 100/)
  }
})
