import assert from 'node:assert/strict'
import test from 'node:test'
import { redacted } from '../../../test/support/text/build-transcript.ts'

const only = (entity_types: string | string[]) => ({ entity_types })

test('a number with words between its parts is hidden as a whole', () => {
  const lines = ['It is four two four two, um, four two four two, and then four two four two.']
  assert.deepEqual(redacted(lines, only('PCI')), [
    'It is [CREDIT_CARD_1], and then [CREDIT_CARD_2].',
  ])
})

test('a number whose digits are corrected is hidden as what was asked for', () => {
  const lines = ['0: And the card number?', '1: 5 5 5 5, 4 4 4 4, 3 3 3, sorry, 3 3 3 3, 1 1 1 1.']
  assert.deepEqual(redacted(lines, only('PCI')), [
    'And the card number?',
    '[CREDIT_CARD_1], sorry, [CREDIT_CARD_2].',
  ])
  const social = ['0: And your social?', '1: Five one two, no, five one three, four five, nine.']
  assert.deepEqual(redacted(social, only(['PCI', 'SSN'])), [
    'And your social?',
    '[SSN_1], no, [SSN_2].',
  ])
})

test('a number is hidden although the listener answers between its parts', () => {
  const lines = ['My account number is 456.', 'Uh-huh. Got it.', '789.', 'Mm-hmm, go ahead.', '12.']
  assert.deepEqual(redacted(lines, only('ACCOUNT_NUMBER')), [
    'My account number is [ACCOUNT_NUMBER_1].',
    'Uh-huh. Got it.',
    '[ACCOUNT_NUMBER_2].',
    'Mm-hmm, go ahead.',
    '[ACCOUNT_NUMBER_3].',
  ])
})

test('a card number with too few digits is hidden', () => {
  assert.deepEqual(redacted(['Take 4242 4242 424.'], only('CREDIT_CARD')), [
    'Take [CREDIT_CARD_1].',
  ])
})

test('a card number interrupted by talk is found by its checksum', () => {
  const phrase = (last: string) => `4111. Hold on, please. 1111. My dog barks. 1111. Okay. ${last}.`
  assert.deepEqual(redacted([phrase('1111')], only('CREDIT_CARD')), [
    '[CREDIT_CARD_1]. Hold on, please. [CREDIT_CARD_2]. My dog barks. [CREDIT_CARD_2]. Okay. [CREDIT_CARD_2].',
  ])
  assert.deepEqual(redacted([phrase('1112')], only('CREDIT_CARD')), [phrase('1112')])
})

test('a card number with thousands separators is hidden despite a wrong checksum', () => {
  const lines = ['My card is 4,111,111,111,111,112.', 'We sold 45,000,000,000 of 4,123,123.']
  assert.deepEqual(redacted(lines, only('CREDIT_CARD')), ['My card is [CREDIT_CARD_1].', lines[1]])
})

test('four digits near a card cue are hidden', () => {
  const lines = ['My card starts with 4111, my house is 4111.']
  assert.match(redacted(lines, only('CREDIT_CARD'))[0]!, /^My card starts with \[CREDIT_CARD_1\]/)
  assert.deepEqual(redacted(['My house is 4111.'], only('CREDIT_CARD')), ['My house is 4111.'])
})

test('numbers of types that were not requested are kept', () => {
  const lines = ['Call me at 415-555-0199.']
  assert.deepEqual(redacted(lines, only('PCI')), lines)
  assert.deepEqual(redacted(lines, only('NUMERICAL_PII')), ['Call me at [NUMERICAL_PII_1].'])
})

test('amounts, dates and counting are not identifying numbers', () => {
  const numbered = [
    '0: We sold 1,234,567 of them for 45,000,000 dollars.',
    '1: From 1990 to 2010 it was 25.1234567.',
    '2: One two three four five six seven eight nine ten.',
  ]
  const phrase = numbered.map((line) => line.slice(3))
  assert.deepEqual(redacted(numbered, only(['NUMERICAL_PII', 'CREDIT_CARD'])), phrase)
})

test('amounts without a currency are kept after a question for a card number', () => {
  const asked = '0: And your card number?'
  const answers = [
    'You took twelve fifty in March. I was charged four hundred and fifty, and then nineteen ninety nine.',
    'The bill says 1,250, and I paid 1200.',
    'Two hundred forty nine ninety nine?',
    'Two hundred and forty nine ninety nine?',
  ]
  for (const answer of answers) {
    assert.deepEqual(redacted([asked, `1: ${answer}`], only('PCI'))[1], answer)
  }
  for (const answer of ['I paid with 4412.', 'I owe twenty five hundred. It is 4412.']) {
    assert.match(redacted([asked, `1: ${answer}`], only('PCI'))[1]!, /\[CREDIT_CARD_1\]\.$/)
  }
  assert.match(redacted(['How did you pay? My card? 4412.'], only('PCI'))[0]!, /CREDIT_CARD/)
})
