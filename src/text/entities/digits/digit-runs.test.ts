import assert from 'node:assert/strict'
import test from 'node:test'
import { digitRuns } from './digit-runs.ts'
import { lexemesOf } from './spoken-digits.ts'

const runs = (text: string) => digitRuns(lexemesOf(text))

const folded: Record<string, string[]> = {
  'zero seven eight, zero five, one one two zero': ['078051120'],
  'oh nine twenty seven': ['0927'],
  'Oh, one more': ['1'],
  'double five triple zero, double oh': ['5500000'],
  'one eight hundred five five five': ['1800555'],
  'nineteen eighty-five': ['1985'],
  'twenty zero': ['200'],
  '(415) 555-0199 or 4242': ['4155550199', '4242'],
  'four dash five hyphen six space seven': ['4567'],
  'four or five': ['4', '5'],
  'one hundred and two': ['1', '2'],
  'I lost the old one. Four two': ['42'],
  'It is one. Four two': ['142'],
  'no number': [],
}
for (const [text, expected] of Object.entries(folded)) {
  test(`folds "${text}" to ${expected.join(', ') || 'no digits'}`, () => {
    assert.deepEqual(
      runs(text).map(({ digits }) => digits),
      expected,
    )
  })
}

test('a digit run has its position without trailing punctuation, its plus and groups', () => {
  assert.deepEqual(runs('at plus four four, seven. Eight, please'), [
    { from: 3, to: 31, digits: '4478', plus: true, groups: [2, 1, 1], spoken: true },
  ])
})

test('a full stop between spoken digits does not end the run', () => {
  assert.equal(runs('Four two. Four two.')[0]?.digits, '4242')
})
