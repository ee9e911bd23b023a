import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stageName } from './stage-names.ts'

test('a job that waits for a language model says so; an unknown stage has its own name', () => {
  assert.equal(stageName('call services'), 'waiting for language models and translators')
  assert.equal(stageName('dance'), 'dance')
})
