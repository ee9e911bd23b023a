import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beforeRepetition } from './repeated-text.ts'

const sentence = 'The speaker is speaking. '

test('repeated sentences at the end of a text are reduced to one', () => {
  const text = `A call about a lamp. ${sentence.repeat(12)}The spea`
  assert.equal(beforeRepetition(text)?.trim(), `A call about a lamp. ${sentence.trim()}`)
})

test('a repetition is cut at the end of a sentence', () => {
  const text = `I know that he is speaking. ${sentence.repeat(12)}`
  assert.equal(beforeRepetition(text), 'I know that he is speaking. The speaker is speaking.')
  assert.equal(beforeRepetition(`Well, ${'so and '.repeat(50)}`), 'Well, so and')
  assert.equal(beforeRepetition('我们明天去学校。'.repeat(40)), '我们明天去学校。')
})

test('other repetitions are kept', () => {
  const points = Array.from({ length: 40 }, (_, n) => `- He said it at minute ${n}.`).join('\n')
  const kept = [
    '',
    points,
    sentence.repeat(7),
    `${sentence.repeat(20)}Then she left.`,
    'no '.repeat(20),
    '- "I do not know."\n'.repeat(7),
    `${'-'.repeat(30)}\n`,
  ]
  for (const text of kept) assert.equal(beforeRepetition(text), undefined, text)
})
