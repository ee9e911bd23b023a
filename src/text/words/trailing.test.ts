import assert from 'node:assert/strict'
import test from 'node:test'
import { normalizeUnicode } from './normalize.ts'
import { trailingFrom } from './trailing.ts'

test('trailingFrom returns the start of trailing characters, surrogate pairs as one', () => {
  assert.equal(trailingFrom('a..', /\./), 1)
  assert.equal(trailingFrom('..', /\./), 0)
  assert.equal(trailingFrom('a', /\./), 1)
  assert.equal(trailingFrom('', /\./), 0)
  assert.equal(trailingFrom('a😀😀', /\p{Emoji_Presentation}/u), 1)
  assert.equal(trailingFrom('😀.', /\./), 2)
  assert.equal(trailingFrom('a\ud83d.', /[^a]/u), 1)
})

test('text is normalized, except extremely long runs of marks', () => {
  assert.equal(normalizeUnicode('e\u0301', 'NFC'), 'é')
  assert.equal(normalizeUnicode('é', 'NFD'), 'e\u0301')
  assert.equal(
    normalizeUnicode(`e\u0301 ${'\u0301'.repeat(99)}`, 'NFC'),
    `é ${'\u0301'.repeat(99)}`,
  )
  const marks = '\u0301\u0323'.repeat(1000)
  assert.equal(normalizeUnicode(marks, 'NFC').length, marks.length)
})
