import assert from 'node:assert/strict'
import test from 'node:test'
import { numbersInDigits } from '../../../../../test/support/text/numbers-in-digits.ts'

test('joins the three digits of a pulse, a weight and a blood sugar', () => {
  const cases = {
    'His heart rate was one ten, her pulse is one oh five.':
      'His heart rate was 110, her pulse is 105.',
    'He weighs about one eighty now. She weighed seven ten at birth.':
      'He weighs about 180 now. She weighed seven ten at birth.',
    'Her sugar was one fifteen in the morning. The sugar was two fifty.':
      'Her sugar was 115 in the morning. The sugar was two fifty.',
    'He weighed one twenty year old, and she weighs two twenty-five pound bags.':
      'He weighed one 20 year old, and she weighs two 25 pound bags.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})
