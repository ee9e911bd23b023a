import assert from 'node:assert/strict'
import test from 'node:test'
import { open } from '../../../../test/support/live/sessions/test-recognition-loop.ts'
import {
  alignToPrevious,
  beginAfter,
  startsAfterPause,
  withoutOverlap,
  withoutRepeat,
} from './adjacent-utterances.ts'

const adjacent = { segment: { start: 32_000, end: 64_000 }, context: { start: 0, end: 64_000 } }
const alone = { ...adjacent, context: adjacent.segment }

function behind(end: number): number {
  return alignToPrevious(adjacent, { text: 'word', end }).start
}

test('the words of an adjacent utterance start where the previous ones end', () => {
  assert.equal(behind(2.1), 2.05 * 16_000)
  assert.equal(behind(1.9), 1.85 * 16_000)
  assert.equal(alignToPrevious(adjacent, null).start, 32_000)
})

test('an utterance starts within the text recognized with it and before its end', () => {
  assert.equal(behind(0), 0)
  assert.equal(behind(9), 64_000)
})

test('an utterance after a pause keeps its start', () => {
  assert.deepEqual([startsAfterPause(alone), startsAfterPause(adjacent)], [true, false])
  assert.equal(alignToPrevious(alone, { text: 'word', end: 1.9 }).start, 32_000)
})

test('a first word after a short pause is kept where its time begins before the pause', () => {
  const afterPause = { ...adjacent, isAfterPause: true as const }
  assert.equal(alignToPrevious(afterPause, { text: 'word', end: 1.9 }).start, 1.75 * 16_000)
  assert.equal(alignToPrevious(afterPause, { text: 'word', end: 2.2 }).start, 32_000)
})

test('a word recognized on both sides of a cut is reported once', () => {
  const words = ['were', 'just', 'here'].map((text, i) => {
    return { text, start: 5 + i, end: 5.4 + i, confidence: 1 }
  })
  const texts = (last: { text: string; end: number } | null, before?: string) => {
    return withoutRepeat(words, last, before).map(({ text }) => text)
  }
  assert.deepEqual(texts({ text: 'Were,', end: 5 }), ['just', 'here'])
  assert.deepEqual(texts({ text: 'there', end: 5 }), ['were', 'just', 'here'])
  assert.deepEqual(texts({ text: 'were', end: 4.5 }), ['were', 'just', 'here'])
  assert.deepEqual(texts(null), ['were', 'just', 'here'])
  assert.deepEqual(texts({ text: 'Were', end: 5 }, 'they'), ['just', 'here'])
})

test('a word that was said twice is kept on both sides of a cut', () => {
  const words = [{ text: 'zero', start: 5, end: 5.4, confidence: 1 }]
  assert.deepEqual(withoutRepeat(words, { text: 'Zero.', end: 5 }, 'zero,'), words)
})

test("the first word starts where the previous utterance's last word ends", () => {
  const [first, second] = [
    { text: 'on', start: 4, end: 4.2, confidence: 1 },
    { text: 'the', start: 4.2, end: 4.4, confidence: 1 },
  ]
  const startsAfter = (end: number) => {
    return withoutOverlap([first, second], { text: 'curtain', end }).map(({ start }) => start)
  }
  assert.deepEqual(startsAfter(4.03), [4.03, 4.2])
  assert.deepEqual(startsAfter(3.9), [4, 4.2])
  assert.deepEqual(startsAfter(4.3), [4, 4.2])
  assert.deepEqual(withoutOverlap([first], null), [first])
})

test('adjacent utterances do not overlap', async () => {
  const { advance, views } = open([`${'#'.repeat(200)}${'.'.repeat(40)}`])
  await advance()
  assert.equal(views.length, 2)
  assert.ok(views[1]!.start >= views[0]!.end, `${views[1]!.start} follows ${views[0]!.end}`)
})

test('words that end before the speech of an utterance are dropped, unless all do', () => {
  const words = [
    { text: 'it?', start: 1, end: 1.1, confidence: 1 },
    { text: 'Nine.', start: 1.4, end: 1.9, confidence: 1 },
  ]
  assert.deepEqual(beginAfter(words, 1.5), [{ ...words[1]!, start: 1.5 }])
  assert.deepEqual(beginAfter(words, 3), words)
})
