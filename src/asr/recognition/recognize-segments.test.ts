import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moonshineThresholds } from '../engines/moonshine/capabilities.ts'
import { recognizeSegments } from './recognize-segments.ts'

const options = {
  language: undefined,
  languages: [],
  vocabulary: [],
  signal: new AbortController().signal,
}
const second = 16_000
const speech = { detect: async () => new Float32Array(300).fill(0.95) }

/** Answers each call with the words and confidence for audio of about so many seconds. */
function recognizerOf(response: (seconds: number) => { text: string; confidence: number }) {
  const requested: number[] = []
  const recognizer = {
    capabilities: { languages: ['en'], wordTimes: true, maxSeconds: 15, vocabulary: false },
    thresholds: moonshineThresholds,
    async recognize(segments: readonly Float32Array[]) {
      return segments.map((audio) => {
        requested.push(audio.length / second)
        const { text, confidence } = response(audio.length / second)
        const words = text.split(' ').map((one, i) => {
          return { text: one, start: i * 0.5, end: i * 0.5 + 0.4, confidence }
        })
        return { words, language: 'en', logProbability: -0.1, complete: true, warnings: [] }
      })
    },
  }
  return { models: { recognizer, detector: speech }, requested }
}

const spoken = {
  audio: new Float32Array(3 * second),
  pauses: [{ start: 0.5 * second, end: 2.5 * second }],
}

test('fragments are recognized without pauses, and words keep their original times', async () => {
  const { models, requested } = recognizerOf(() => ({ text: 'one two', confidence: 0.9 }))
  const [piece] = await recognizeSegments(models, [spoken], options)
  assert.deepEqual(requested, [1])
  assert.deepEqual(
    piece!.words.map(({ text, start }) => [text, start]),
    [
      ['one', 0],
      ['two', 2.5],
    ],
  )
})

test('low-confidence words are replaced by better ones of the separate fragments', async () => {
  const { models, requested } = recognizerOf((seconds) => {
    return seconds > 0.9 ? { text: 'one two', confidence: 0.5 } : { text: 'six', confidence: 0.7 }
  })
  const [piece] = await recognizeSegments(models, [spoken], options)
  assert.deepEqual(requested, [1, 0.6, 0.6])
  assert.equal(piece!.words.map(({ text }) => text).join(' '), 'six six')
  assert.equal(piece!.words[1]!.start, 2.4)
})

test('separate fragments that are hardly surer do not replace a word for each fragment', async () => {
  const { models } = recognizerOf((seconds) => {
    return seconds > 0.9 ? { text: 'four eight', confidence: 0.6 } : { text: 'or', confidence: 0.7 }
  })
  const [piece] = await recognizeSegments(models, [spoken], options)
  assert.equal(piece!.words.map(({ text }) => text).join(' '), 'four eight')
})
