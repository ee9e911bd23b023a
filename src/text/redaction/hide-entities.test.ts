import assert from 'node:assert/strict'
import test from 'node:test'
import { redacted } from '../../../test/support/text/build-transcript.ts'

test('of overlapping entities the longer is kept, and the rest of the other hidden', () => {
  assert.deepEqual(redacted(['We met Anna May 5th.']), ['We met [NAME_1] [DATE_1].'])
})

test('a question of another channel or speaker is a cue', () => {
  const question = 'What is your zip code?'
  const answer = 'It is 90210.'
  const config = { entity_types: 'LOCATION_ZIP' }
  const hidden = [question, 'It is [LOCATION_ZIP_1].']
  assert.deepEqual(redacted([`1: ${question}`, `0: ${answer}`], config), hidden)
  const speakers = [`0/1: ${question}`, `0/0: ${answer}`]
  assert.deepEqual(redacted(speakers, config)[1], 'It is [LOCATION_ZIP_1].')
  assert.deepEqual(redacted([answer], config), [answer])
})
