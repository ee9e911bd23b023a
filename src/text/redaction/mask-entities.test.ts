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

test('the full stop of p.m. stays where it ends the sentence', () => {
  assert.deepEqual(redacted(['It was 5 p.m. Then it rained until 5 p.m. and on.', 'At 5 p.m.']), [
    'It was [TIME_1]. Then it rained until [TIME_1] and on.',
    'At [TIME_1].',
  ])
  assert.deepEqual(redacted(['At 5 p.m. Eastern we left.'], { entity_types: 'TIME' }), [
    'At [TIME_1] Eastern we left.',
  ])
})

test('Washington, D.C. is hidden as a whole', () => {
  const lines = [
    'We live in Washington, D.C. but left D.C. for a year.',
    'It is near D.C. Then go.',
  ]
  assert.deepEqual(redacted(lines, { entity_types: 'LOCATION_CITY' }), [
    'We live in [LOCATION_CITY_1] but left [LOCATION_CITY_2] for a year.',
    'It is near [LOCATION_CITY_2]. Then go.',
  ])
  assert.deepEqual(redacted(['A D.C. motor.']), ['A D.C. motor.'])
})
