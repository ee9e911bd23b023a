import assert from 'node:assert/strict'
import test from 'node:test'
import { numbersInDigits } from '../../../../../test/support/text/numbers-in-digits.ts'

test('writes prices as decimals only where the context makes them clear', () => {
  const cases = {
    'The coffee costs one fifty. The coffee table costs one fifty.':
      'The coffee costs 1.50. The coffee table costs one fifty.',
    'She paid four fifty for a beer, he paid four fifty for a coffee machine.':
      'She paid 4.50 for a beer, he paid four fifty for a coffee machine.',
    'Gas is three seventy-nine a gallon. It was in two fifty a pound.':
      'Gas is 3.79 a gallon. It was in two fifty a pound.',
    "That'll be twelve seventy-five please. The total comes to twenty-four fifty.":
      "That'll be 12.75 please. The total comes to 24.50.",
    "It was nineteen fifty. That'll be nineteen fifty please, that will be nineteen fifty.":
      "It was 1950. That'll be 19.50 please, that will be nineteen fifty.",
    'I paid nineteen ninety-nine for it in nineteen ninety-nine.': 'I paid 19.99 for it in 1999.',
    'It costs two ninety-nine, plus four ninety-nine per month, four ninety-nine plus tax.':
      'It costs two ninety-nine, plus four ninety-nine per month, four ninety-nine plus tax.',
    'It costs twelve fifty. The rent costs nineteen ninety-nine. They charge two thousand ninety-nine.':
      'It costs twelve fifty. The rent costs nineteen ninety-nine. They charge 2099.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})
