import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../../transcript/transcript.ts'
import { formatNumbers } from './number-style.ts'

/** Returns words of a second each. */
function said(text: string, language = 'en'): Utterance {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 1, confidence: i % 2 }
  })
  return { channel: 0, language, words }
}

function written(text: string, style: 'digits' | 'words', language?: string): string {
  const { utterances } = formatNumbers({ utterances: [said(text, language)] }, { style })
  return utterances[0]!.words.map((word) => word.text).join(' ')
}

test('style digits converts numbers, years, times, ordinals and decimals', () => {
  const cases = {
    'Press one, or press two.': 'Press 1, or press 2.',
    'It cost three hundred and fifty dollars and 125 euros.': 'It cost 350 dollars and 125 euros.',
    'one hundred twenty-three thousand four hundred fifty-six': '123,456',
    'Two million five': '2,000,005',
    'In nineteen eighty-four, nineteen oh five and two thousand and five.':
      'In 1984, 1905 and 2005.',
    'At seven thirty p.m. on the twenty first.': 'At 7:30 p.m. on the 21st.',
    'the fifteenth century': 'the 15th century',
    'three point one four, twenty-five percent': '3.14, 25 percent',
    'Five five five, one two.': '5 5 5, 1 2.',
    'A hundred and fifty people, a thousand two hundred.': '150 people, 1200.',
    'ten eleven twelve thirteen fourteen': '10 11 12 13 14',
    'Page five, nineteen twenty, chapter five nineteen twenty.': 'Page 5, 1920, chapter 5 1920.',
    'Call one eight hundred five five five one two.': 'Call 1 800 5 5 5 1 2.',
    'one hundred five, two hundred and five': '105, 205',
    'three point oh five, version three point oh': '3.05, version 3.0',
    'At seven oh five p.m. or eleven oh five a.m.': 'At 7:05 p.m. or 11:05 a.m.',
    'A thirty second break on thirty second street.': 'A 30 second break on 32nd street.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits keeps pronouns, small ordinals and other languages', () => {
  const cases = ['No one knows one of us.', 'Wait a second, the third one.', 'a hundred times']
  cases.push('the two hundredth day', 'the nineteen nineties', 'a million and a half')
  for (const text of cases) assert.equal(written(text, 'digits'), text)
  assert.equal(written('twenty, five', 'digits'), '20, 5')
  assert.equal(written('one two', 'digits', 'fr'), 'one two')
})

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
    'In 1900 it was -5 for ¥1.': 'In nineteen hundred it was minus five for one yen.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'words'), expected)
})

test('a merged number spans its words, and split ones share their time', () => {
  const [spoken, digits] = [said('Say twenty five now'), said('Say 125 now')]
  assert.deepEqual(formatNumbers({ utterances: [spoken] }).utterances[0]!.words[1], {
    ...{ text: '25', start: 1, end: 3, confidence: 0.5 },
  })
  const { words } = formatNumbers({ utterances: [digits] }, { style: 'words' }).utterances[0]!
  assert.deepEqual(
    words.map(({ text }) => text),
    ['Say', 'one', 'hundred', 'twenty-five', 'now'],
  )
  assert.deepEqual([words[1]!.start, words[3]!.end, words[3]!.confidence], [1, 2, 1])
  assert.ok(words.every(({ start, end }, i) => end > start && start === (words[i - 1]?.end ?? 0)))
})
