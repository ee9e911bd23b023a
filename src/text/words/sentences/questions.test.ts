import assert from 'node:assert/strict'
import test from 'node:test'
import { heldOut, tuned } from '../../../../test/support/text/question-cases.ts'
import { asksInEnglish } from './questions.ts'

/** Returns the sentences of a fixture that are classified wrongly. */
function misjudged({ questions, statements }: typeof tuned): string[] {
  const asks = (sentence: string) => asksInEnglish(sentence.slice(0, -1))
  return [...questions.filter((sentence) => !asks(sentence)), ...statements.filter(asks)]
}

test('a question is detected by its first words or its tag', () => {
  assert.deepEqual(misjudged(tuned), [])
})

test('held out: all of 28 unseen sentences are classified correctly', () => {
  assert.equal(heldOut.questions.length + heldOut.statements.length, 28)
  assert.deepEqual(misjudged(heldOut), [])
})
