import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../../transcript/transcript.ts'
import { formatNumbers } from './format-numbers.ts'

/** Returns words of a second each. */
function utterance(text: string): Utterance {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 1, confidence: 1 }
  })
  return { channel: 0, language: 'en', words }
}

function written(text: string): string {
  const { utterances } = formatNumbers({ utterances: [utterance(text)] }, { style: 'words' })
  return utterances[0]!.words.map((word) => word.text).join(' ')
}

test('style words converts numbers, years, times, money and percent', () => {
  const cases = {
    'Press 2.': 'Press two.',
    '4 or 16': 'Four or sixteen',
    'By 25 to 30 years, 125,000 in all.':
      'By twenty-five to thirty years, one hundred twenty-five thousand in all.',
    'In 1984, 2005 or 2015.': 'In nineteen eighty-four, two thousand five or twenty fifteen.',
    'At 7:30 a.m. on the 15th.': 'At seven thirty a.m. on the fifteenth.',
    'It is $5, or £1, or 3.5%.': 'It is five dollars, or one pound, or three point five percent.',
    'Call 5551234 or 007, or A4.': 'Call 5551234 or 007, or A4.',
    'It costs $3.5 million, or €1 Million':
      'It costs three point five million dollars, or one Million euros',
    'At 7:05 p.m. or 12:00 p.m. or 12:00, not 14:00.':
      "At seven oh five p.m. or twelve p.m. or twelve o'clock, not 14:00.",
    '-5% or +$2': 'Minus five percent or plus two dollars',
    'It is 1¢, or 5¢. Room 5.': 'It is one cent, or five cents. Room five.',
    'In 1900 it was -5 for ¥1.': 'In nineteen hundred it was minus five for one yen.',
    '$19.99, or $1.01, or £0.50, or $5.00.':
      'Nineteen dollars and ninety-nine cents, or one dollar and one cent, or fifty pence, or five dollars.',
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(written(text), expected)
})

test('style words writes an amount before a noun in the singular', () => {
  const cases = {
    'Another $20 goes to charity, another $5 million came.':
      'Another twenty dollars goes to charity, another five million dollars came.',
    'A $20 bill, a $5 million deal and a $19.99 plan.':
      'A twenty dollar bill, a five million dollar deal and a nineteen dollar and ninety-nine cent plan.',
    'He paid $20 bills, a $20 and the $5 million deal.':
      'He paid twenty dollars bills, a twenty dollars and the five million dollars deal.',
    'Another $5 Anna gave, a $5, spent, a $5 million of it, each $5 goes.':
      'Another five dollars Anna gave, a five dollars, spent, a five million dollars of it, each five dollars goes.',
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(written(text), expected)
})

test('style words begins a sentence with a capital, and goes on after an abbreviation', () => {
  assert.equal(
    written('100 came. 2024 was No. 5 for Mr. 305. "7 left."'),
    'One hundred came. Twenty twenty-four was No. five for Mr. three hundred five. "Seven left."',
  )
  assert.equal(
    written('In the U.S. 20 people came at 5 p.m. 7 left.'),
    'In the U.S. twenty people came at five p.m. Seven left.',
  )
  assert.equal(written('$1.5 million.'), 'One point five million dollars.')
})

test('style words keeps the digits of names and codes, and never writes half of one in words', () => {
  const cases = [
    'Call (415) 555-0132, +1 415 555 0132 or 555 0132.',
    'My order number is 4521, my PIN is 1234.',
    'Washington, D.C. 20500, or CA 94105.',
    'It is at 1600 Pennsylvania Avenue, room 452, and not on page 128.',
    'Flight 286 runs version 3.10 on 192.168.1.1.',
    'It came on 2024-05-06 at 10:30:15 for 10-12 days, or 2 1/2.',
    'A B-52, 5kg of it, 20+, .5, $5+ or 5° and #5.',
  ]
  for (const text of cases) assert.equal(written(text), text)
})

test('style words keeps the digits of emergency numbers that someone calls', () => {
  assert.equal(
    written('They called 911 and call 999, not 112 of the 911 people. Call 100 people.'),
    'They called 911 and call 999, not one hundred twelve of the nine hundred eleven people. Call one hundred people.',
  )
})

test('style words finds a code by a question on another channel', () => {
  const transcript = {
    utterances: [
      { ...utterance('What is your account number?'), channel: 1 },
      utterance('It is 4521, for 3 years.'),
    ],
  }
  const { utterances } = formatNumbers(transcript, { style: 'words' })
  const texts = utterances.map(({ words }) => words.map(({ text }) => text).join(' '))
  assert.deepEqual(texts, ['What is your account number?', 'It is 4521, for three years.'])
})
