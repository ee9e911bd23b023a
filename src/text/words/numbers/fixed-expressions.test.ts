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
      'Five Guys at 22 Acacia Avenue on the 21st of May.',
    'She said Three people came to Gate Five Alpha.': 'She said 3 people came to Gate 5 Alpha.',
    'Five Guys is open. Three Americans won, two Americans lost. Ten Downing Street. Five May.':
      'Five Guys is open. Three Americans won, 2 Americans lost. 10 Downing Street. 5 May.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})

test('writes what eyes see as a fraction', () => {
  const cases = {
    'Hindsight is twenty twenty. He has twenty twenty vision. Acuity twenty forty.':
      'Hindsight is 20/20. He has 20/20 vision. Acuity 20/40.',
    'In twenty twenty, vision twenty thirty, acuity is twenty two hundred.':
      'In 2020, vision 2030, acuity is 20/200.',
    'Twenty-twenty vision, a vision in twenty-forty.': '20/20 vision, a vision in 2040.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})

test('keeps "one" and the number beside it in words', () => {
  const cases = {
    'One in five fails, one out of ten thousand, one in nineteen ninety.':
      'One in five fails, one out of ten thousand, one in 1990.',
    'Get one for three. He went one for four with a walk. One for five people, channel one in ten.':
      'Get one for three. He went one for four with a walk. One for 5 people, channel 1 in 10.',
    'One on one, a one on one meeting, one on five pages, the one two punch.':
      'One on one, a one on one meeting, one on 5 pages, the one two punch.',
    'A dollar fifty, an hour forty-five later, a year ten people came, a minute five.':
      'A dollar fifty, an hour forty-five later, a year 10 people came, a minute 5.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})

test('keeps a number in words after an "oh" that is no digit', () => {
  const cases = {
    'Back in oh eight we left at oh six hundred. Since oh nine.':
      'Back in oh eight we left at oh six hundred. Since oh nine.',
    'At oh seven nine, ends in oh eight two. Oh five people.':
      'At 0 7 9, ends in 0 8 2. Oh 5 people.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(numbersInDigits(text), expected)
})

test('writes the radio code 10-4 where nothing follows it', () => {
  assert.equal(
    numbersInDigits('Ten four, over. That is a ten-four. Ten four inch nails, ten four people.'),
    '10-4, over. That is a 10-4. 10 4 inch nails, 10 4 people.',
  )
})
