import assert from 'node:assert/strict'
import test from 'node:test'
import { numbersInDigits } from '../../../../test/support/text/numbers-in-digits.ts'

test('keeps half hours and numbers with a fraction in words', () => {
  const cases = {
    'At half past two or quarter to twelve, a quarter of five million people, a quarter to five people.':
      'At half past two or quarter to twelve, a quarter of 5,000,000 people, a quarter to 5 people.',
    'Three and a half hours, four and three quarters percent, twenty-two and a half.':
      'Three and a half hours, four and three quarters percent, twenty-two and a half.',
    'One hundred two and a half, two and a dog, two, and a half.':
      '102 and a half, 2 and a dog, 2, and a half.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})

test('keeps the numbers of names in words', () => {
  const cases = {
    'We ate at Five Guys. They love Twenty One Pilots.':
      'We ate at Five Guys. They love Twenty One Pilots.',
    'Five Guys at Twenty Two Acacia Avenue on the Twenty First of May.':
      '5 Guys at 22 Acacia Avenue on the 21st of May.',
    'She said Three people came to Gate Five Alpha.': 'She said 3 people came to Gate 5 Alpha.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})

test('writes what eyes see as a fraction', () => {
  const cases = {
    'Hindsight is twenty twenty. He has twenty twenty vision. Acuity twenty forty.':
      'Hindsight is 20/20. He has 20/20 vision. Acuity 20/40.',
    'In twenty twenty, vision twenty thirty, acuity is twenty two hundred.':
      'In 2020, vision 2030, acuity is 2200.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})
