import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  dropRepeatedPhrases,
  extendLongNumbers,
  extendShortWords,
  isTooShort,
} from './implausible-words.ts'

function word(text: string, start: number, end: number) {
  return { text, start, end, confidence: 0.9 }
}

function timesOf(words: readonly { start: number; end: number }[]) {
  return words.map(({ start, end }) => [+start.toFixed(3), +end.toFixed(3)])
}

test('a short word expands into the silence before it, then into that after it', () => {
  const wide = extendShortWords([
    word('iron', 0, 1),
    word('they', 1.3, 1.32),
    word('say', 1.32, 1.8),
  ])
  assert.deepEqual(timesOf(wide)[1], [1.248, 1.32])
  const late = extendShortWords([word('iron', 0, 1), word('the', 1, 1.02), word('say', 1.5, 1.8)])
  assert.deepEqual(timesOf(late)[1], [1, 1.054])
})

test('a word that is too short takes time from longer neighbors', () => {
  const wide = extendShortWords([word('iron', 0, 1), word('a', 1, 1.01), word('say', 1.01, 1.8)])
  assert.deepEqual(timesOf(wide), [
    [0, 0.97],
    [0.97, 1.01],
    [1.01, 1.8],
  ])
})

test('a hurried repetition of the phrase before is dropped, a spoken one is kept', () => {
  const phrase = (at: number, step: number) => {
    return ['Good', 'morning,', 'Steve.'].map((text, i) => {
      return word(i === 2 && at > 0 ? 'Steve,' : text, at + i * step, at + (i + 0.9) * step)
    })
  }
  const texts = (words: readonly { text: string }[]) => words.map(({ text }) => text).join(' ')
  const echo = dropRepeatedPhrases([...phrase(0, 0.3), ...phrase(0.9, 0.02)])
  assert.equal(texts(echo), 'Good morning, Steve.')
  const before = dropRepeatedPhrases([...phrase(0, 0.02), ...phrase(0.1, 0.3)])
  assert.equal(texts(before), 'Good morning, Steve,')
  assert.equal(dropRepeatedPhrases([...phrase(0, 0.3), ...phrase(0.9, 0.2)]).length, 6)
  const however = [word('However,', 0, 0.44), word('however,', 0.44, 0.46)]
  assert.equal(dropRepeatedPhrases(however).length, 1)
  const hurried = [word('However,', 0, 0.3), word('however,', 0.3, 0.43)]
  assert.equal(dropRepeatedPhrases(hurried).length, 1)
  const stutter = [word('the', 0, 0.12), word('the', 0.12, 0.19)]
  assert.equal(dropRepeatedPhrases(stutter).length, 2)
  const digits = [word('Three,', 0, 0.12), word('three,', 0.12, 0.5)]
  assert.equal(dropRepeatedPhrases(digits).length, 2)
})

test('a long number extends over the time before it, then over that after it', () => {
  const wide = extendLongNumbers(
    [word('call', 0, 0.3), word('555-0123', 2, 2.5), word('now', 6, 6.4), word('2', 7, 7.1)],
    9,
  )
  const invented = [word('call', 0, 0.3), word('2008.', 2, 2.02)]
  assert.deepEqual(extendLongNumbers(invented, 9), invented)
  assert.deepEqual(timesOf(wide), [
    [0, 0.3],
    [0.3, 4.5],
    [6, 6.4],
    [7, 7.1],
  ])
})

test('widened words keep their order, do not overlap and reach the minimum length', () => {
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
      const wide = extendShortWords(words)
      for (const [i, one] of wide.entries()) {
        assert.ok(!isTooShort(one))
        assert.ok(i === 0 || one.start >= wide[i - 1]!.end - 1e-9)
      }
    }),
  )
})
