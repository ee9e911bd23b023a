import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { wordConfidence } from './decoding/confidence.ts'
import type { WhisperDecoding } from './decoding/decode.ts'
import { createTokenizer } from './tokenizer.ts'
import { approximateWords, timedWords } from './words.ts'

const pieces = ['Ġone', 'Ġtwo', ',', 'Ġthree', 'Ġ-', '<|endoftext|>']
const tokenizer = createTokenizer(pieces, { tokens: { end: 5 } } as never)

/** A text of which each token attends to `#` in its line, one character per 20 ms frame. */
function decodingOf(tokens: number[], ...drawing: string[]): WhisperDecoding {
  const attention = drawing.map((line) => Float32Array.from(line, (c) => (c === '#' ? 1 : 0.01)))
  const logProbs = drawing.map(() => -0.1)
  return { tokens, logProbs, attention, frames: drawing[0]!.length, stopReason: 'end' }
}

function timesOf(words: readonly { text: string; start: number; end: number }[]) {
  return words.map(({ text, start, end }) => [
    text,
    Number(start.toFixed(2)),
    Number(end.toFixed(2)),
  ])
}

const line = (from: number, to: number) =>
  `${'.'.repeat(from)}${'#'.repeat(to - from)}${'.'.repeat(100 - to)}`
const audio = Float32Array.from({ length: 32_000 }, (_, i) => Math.sin(i))
const text = { language: 'en', audio, heads: 1 }

test('word times follow the attention, without the pause after a comma', () => {
  const decoding = decodingOf(
    [0, 1, 2, 3],
    line(0, 20),
    line(20, 40),
    line(40, 60),
    line(60, 80),
    line(80, 100),
  )
  const rough = approximateWords(tokenizer, { ...text, decoding })
  assert.deepEqual(timesOf(rough), [
    ['one', 0, 0.4],
    ['two,', 0.4, 0.8],
    ['three', 1.2, 1.6],
  ])
  assert.deepEqual(
    rough.map(({ tokens }) => tokens),
    [
      { first: 0, last: 0 },
      { first: 1, last: 2 },
      { first: 3, last: 3 },
    ],
  )
  const timed = timedWords(tokenizer, { ...text, decoding })
  for (const [i, { start }] of timed.entries()) {
    assert.ok(Math.abs(start - rough[i]!.start) < 0.06, `${start} is near ${rough[i]!.start}`)
  }
})

test('lone punctuation joins the word before it', () => {
  const decoding = decodingOf([0, 4, 1], line(0, 20), line(20, 30), line(30, 60), line(60, 100))
  assert.deepEqual(
    timedWords(tokenizer, { ...text, decoding }).map((word) => word.text),
    ['one-', 'two'],
  )
})

test('words ascend, do not overlap and stay in the audio for any attention', () => {
  const random = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
    minLength: 50,
    maxLength: 50,
  })
  fc.assert(
    fc.property(fc.array(random, { minLength: 2, maxLength: 8 }), (rows) => {
      const attention = rows.map((row) => Float32Array.from(row))
      const tokens = rows.slice(1).map((_, i) => i % 2)
      const decoding: WhisperDecoding = {
        tokens,
        attention,
        logProbs: rows.map(() => -1),
        frames: 50,
        stopReason: 'end',
      }
      const second = audio.subarray(0, 16_000)
      const words = timedWords(tokenizer, { ...text, audio: second, decoding })
      assert.equal(words.length, tokens.length)
      for (const [i, { start, end, confidence }] of words.entries()) {
        assert.ok(start >= (words[i - 1]?.end ?? 0) && end >= start)
        assert.ok(confidence > 0 && confidence < 1)
      }
    }),
  )
})

test('a last word that attention finds at the end of the audio ends with it', () => {
  const decoding = decodingOf([0, 1], line(10, 48), line(48, 50), line(48, 50))
  for (const language of ['en', 'de']) {
    for (const sound of [audio, new Float32Array(32_000)]) {
      const part = sound.subarray(0, 15_930)
      const words = timedWords(tokenizer, { language, audio: part, heads: 1, decoding })
      const last = words.at(-1)!
      assert.ok(last.end <= 15_930 / 16_000, `ends at ${last.end}`)
      assert.ok(last.start < last.end)
    }
  }
})

test('confidence rises with token probabilities and falls with doubtful texts', () => {
  assert.ok(wordConfidence([-0.1], -0.3) > wordConfidence([-1], -0.3))
  assert.ok(wordConfidence([-0.5], -0.3) > wordConfidence([-0.5, -0.5], -0.3))
  assert.ok(wordConfidence([-0.5], -0.3) > wordConfidence([-0.5], -1))
})
