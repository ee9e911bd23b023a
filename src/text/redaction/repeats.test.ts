import assert from 'node:assert/strict'
import test from 'node:test'
import { redacted } from './said.fixture.ts'

test('a name is hidden where no cue tells it, too', () => {
  const lines = [
    'My name is Anna Kowalski.',
    'The Kowalski file is here. Kowalski called twice. KOWALSKI! The Kowalskis are nice.',
  ]
  assert.deepEqual(redacted(lines, { entity_types: 'NAME', processed_text_type: 'MASK' }), [
    'My name is #### ########.',
    'The ######## file is here. ######## called twice. ########! The ######### are nice.',
  ])
})

test('a name in small letters is another word', () => {
  const lines = ['My name is Anna Draper.', 'He is a draper.']
  assert.deepEqual(redacted(lines, { entity_types: 'NAME' })[1], 'He is a draper.')
})

test('names that are everyday words stay words where a sentence begins, or a month is meant', () => {
  const lines = ['My name is Will Young.', 'Will you come? I told Will. Young people do.']
  assert.equal(
    redacted(lines, { entity_types: 'NAME', processed_text_type: 'MASK' })[1],
    'Will you come? I told ####. Young people do.',
  )
  const months = ['My first name is June.', 'In June it rains. We all told June about that.']
  assert.equal(
    redacted(months, { entity_types: 'NAME', processed_text_type: 'MASK' })[1],
    'In June it rains. We all told #### about that.',
  )
})

test('a secret and an address are hidden where they are only repeated', () => {
  const lines = ['My password is Tulip99x.', 'Again, Tulip99x, all small but the first.']
  assert.equal(redacted(lines)[1], 'Again, [PASSWORD_1], all small but the first.')
})

test('parts of a number that are repeated are hidden, amounts of as many digits are not', () => {
  const lines = [
    'My card number is 4242 4242 4242 4242.',
    '1: So it was 4242, and you paid 424 dollars.',
  ]
  assert.equal(
    redacted(lines, { entity_types: 'CREDIT_CARD' })[1],
    'So it was [CREDIT_CARD_2], and you paid 424 dollars.',
  )
})
