import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stageName } from './stage-names.ts'

test('stageName describes known stages and returns unknown ones unchanged', () => {
  assert.equal(stageName('call services'), 'waiting for language models and translators')
  assert.equal(stageName('dance'), 'dance')
})
