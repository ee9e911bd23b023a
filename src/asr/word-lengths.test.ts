import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isCrammed, widenShortWords } from './word-lengths.ts'

function word(text: string, start: number, end: number) {
  return { text, start, end, confidence: 0.9 }
}

function timesOf(words: readonly { start: number; end: number }[]) {
  return words.map(({ start, end }) => [+start.toFixed(3), +end.toFixed(3)])
}

test('a short word grows into the silence before it, then into the one behind it', () => {
  const wide = widenShortWords([
    word('iron', 0, 1),
    word('they', 1.3, 1.32),
    word('say', 1.32, 1.8),
  ])
  assert.deepEqual(timesOf(wide)[1], [1.248, 1.32])
  const late = widenShortWords([word('iron', 0, 1), word('the', 1, 1.02), word('say', 1.5, 1.8)])
  assert.deepEqual(timesOf(late)[1], [1, 1.054])
})

test('it takes what is missing from longer neighbors', () => {
  const wide = widenShortWords([word('iron', 0, 1), word('a', 1, 1.01), word('say', 1.01, 1.8)])
  assert.deepEqual(timesOf(wide), [
    [0, 0.97],
    [0.97, 1.01],
    [1.01, 1.8],
  ])
})

test('words keep their order, never overlap, and none stays too short where there is space', () => {
  const step = fc.tuple(
    fc.double({ min: 0, max: 0.2, noNaN: true }),
    fc.double({ min: 0, max: 0.2, noNaN: true }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let at = 2
      const words = steps.map(([gap, length]) => {
        const start = at + gap
        at = start + length
        return word('alongside', start, at)
      })
      const wide = widenShortWords(words)
      for (const [i, one] of wide.entries()) {
        assert.ok(!isCrammed(one))
        assert.ok(i === 0 || one.start >= wide[i - 1]!.end - 1e-9)
      }
    }),
  )
})
