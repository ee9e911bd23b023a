import assert from 'node:assert/strict'
import test from 'node:test'
import { isLarge } from './large-params.ts'

function vocabulary(...vocabulary: unknown[]) {
  return { custom_vocabulary: true, custom_vocabulary_config: { vocabulary } }
}

function spelling(spelling_dictionary: Record<string, string[]>) {
  return { custom_spelling: true, custom_spelling_config: { spelling_dictionary } }
}

test('many entries, pronunciations, variants or characters count as large', () => {
  assert.equal(isLarge({}), false)
  assert.equal(isLarge(vocabulary(...Array(100).fill('a'))), false)
  assert.equal(isLarge(vocabulary(...Array(101).fill('a'))), true)
  assert.equal(isLarge(vocabulary({ value: 'a', pronunciations: Array(100).fill('b') })), true)
  assert.equal(isLarge(vocabulary('a'.repeat(3001))), true)
  assert.equal(isLarge(spelling({ a: Array(4999).fill('b') })), false)
  assert.equal(isLarge(spelling({ a: Array(5000).fill('b') })), true)
  assert.equal(
    isLarge({ ...spelling({ a: Array(5000).fill('b') }), custom_spelling: false }),
    false,
  )
})
