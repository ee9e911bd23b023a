import assert from 'node:assert/strict'
import test from 'node:test'
import { numbersInDigits } from '../../../../../test/support/text/numbers-in-digits.ts'

test('leaves two numbers side by side in words where their meaning is unclear', () => {
  const cases = {
    'It was two fifty. She is five eleven, and he ran it in twenty-two thirty.':
      'It was two fifty. She is five eleven, and he ran it in twenty-two thirty.',
    'We stopped at Seven Eleven. I paid four fifty for it, or twelve fifty.':
      'We stopped at Seven Eleven. I paid four fifty for it, or 1250.',
    'It takes fifteen twenty minutes for twenty thirty people, in twenty thirty years.':
      'It takes fifteen twenty minutes for twenty thirty people, in twenty thirty years.',
    'In nineteen twenty people walked, fifteen eighty minutes, in twenty thirty.':
      'In 1920 people walked, 1580 minutes, in 2030.',
    'Two ten pound bags, three five gallon buckets and two one hundred milligram tablets':
      'Two 10 pound bags, three 5 gallon buckets and two 100 milligram tablets',
    'At nine fifteen Diane Lane arrived. I live at nine fifteen Diane Lane.':
      'At nine fifteen Diane Lane arrived. I live at 915 Diane Lane.',
    'At twelve fifteen Penny Lane closed. At four fifty-two Oak Street it burned.':
      'At twelve fifteen Penny Lane closed. At 452 Oak Street it burned.',
    'A two fifty pound man, one twenty dollar bill.': 'A two fifty pound man, one 20 dollar bill.',
    'The pin is forty-two eighteen. Forty-two eighty thirty. Option two fifty.':
      'The pin is 42 18. 42 80 30. Option 2 50.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})
