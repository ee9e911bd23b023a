import assert from 'node:assert/strict'
import test from 'node:test'
import { numbersInDigits } from '../../../../../test/support/text/numbers-in-digits.ts'

test('leaves two numbers side by side in words where their meaning is unclear', () => {
  const cases = {
    'It was two fifty. She is five eleven, and he ran it in twenty-two thirty.':
      'It was two fifty. She is five eleven, and he ran it in twenty-two thirty.',
    'We stopped at Seven Eleven. I paid four fifty for it, or twelve fifty.':
      'We stopped at Seven Eleven. I paid four fifty for it, or twelve fifty.',
    'At seven twelve and nine forty-eight, the large is four seventy-five, it is nine eighty-six.':
      'At seven twelve and nine forty-eight, the large is four seventy-five, it is nine eighty-six.',
    'Rooms two twenty-one through two twenty-nine, step one twenty-two, Boeing seven thirty-seven.':
      'Rooms 221 through 229, step 122, Boeing 737.',
    'My birthday is five twelve eighty-four. Born five nineteen eighty-four.':
      'My birthday is five twelve eighty-four. Born five nineteen eighty-four.',
    'Five nineteen eighty-four, five twelve thirty four, chapter five nineteen twenty.':
      '5 1984, five twelve thirty four, chapter 5 1920.',
    'It leaves at twelve ten. By eleven fifty or eleven oh five. The rent is twelve fifty.':
      'It leaves at twelve ten. By eleven fifty or eleven oh five. The rent is 1250.',
    'In eleven fifty, of twelve fifteen, room twelve fifty, fourteen fifty.':
      'In 1150, of 1215, room 1250, 1450.',
    'She makes fourteen fifty an hour. In fourteen fifty a duke died. It is worth nineteen fifty.':
      'She makes fourteen fifty an hour. In 1450 a duke died. It is worth nineteen fifty.',
    'The four oh five, error four oh four, my four oh one k. Two oh five. Area code two oh three.':
      'The four oh five, error four oh four, my four oh one k. 2 0 5. Area code 2 0 3.',
    'My card ending in forty-two was charged forty-two fifty.':
      'My card ending in 42 was charged forty-two fifty.',
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
