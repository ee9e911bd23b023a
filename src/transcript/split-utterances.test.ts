import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitUtterances } from './split-utterances.ts'
import type { Word } from './transcript.ts'

/** Words of 0.3 s with 0.1 s between them; `|` is a pause of one second, `'` one of 0.5 s. */
function cut(text: string): string[] {
  let at = 0
  const words: Word[] = []
  for (const token of text.split(' ')) {
    if (token === '|') at += 0.9
    else if (token === "'") at += 0.4
    else words.push({ text: token, start: at, end: at + 0.3, confidence: 1 })
    if (!"|'".includes(token)) at += 0.4
  }
  return splitUtterances(words, { channel: 0, language: 'en' }).map((utterance) => {
    return utterance.words.map((word) => word.text).join(' ')
  })
}

test('a pause ends an utterance', () => {
  assert.deepEqual(cut('hello there | you'), ['hello there', 'you'])
})

test('a short pause ends an utterance only after a sentence', () => {
  assert.deepEqual(cut("yes. ' no ' maybe"), ['yes.', 'no maybe'])
})

test('a long utterance is split after a sentence near its middle', () => {
  const half = `${'word '.repeat(20)}end.`
  assert.deepEqual(cut(`${half} ${half}`), [half, half])
  const [short, long] = [`${'word '.repeat(16)}end.`, `${'word '.repeat(24)}end.`]
  assert.deepEqual(cut(`${short} ${long}`), [short, long])
})

test('no words yield no utterance', () => {
  assert.deepEqual(splitUtterances([], { channel: 0, language: 'en' }), [])
})

test('every word is kept in order, in utterances up to 15 s or 40 words', () => {
  const step = fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom('a', 'b,', 'c.'),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      let at = 0
      const words = steps.map(([pause, text]) => {
        const start = at + pause
        at = start + 0.3
        return { text, start, end: at, confidence: 1 }
      })
      const utterances = splitUtterances(words, { channel: 1, language: 'en' })
      assert.deepEqual(
        utterances.flatMap((utterance) => utterance.words),
        words,
      )
      for (const { words: utteranceWords } of utterances) {
        assert.ok(utteranceWords.length <= 40)
        assert.ok(
          utteranceWords.length === 1 ||
            utteranceWords.at(-1)!.end - utteranceWords[0]!.start <= 15,
        )
      }
    }),
  )
})
