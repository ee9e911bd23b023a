import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { describeMoonshine, moonshineThresholds } from '../engines/moonshine/capabilities.ts'
import type { Recognizer } from '../engines/recognizer.ts'
import {
  recognizeFinal,
  recognizePartial,
  stableWords,
  wordsWithin,
} from './recognize-utterance.ts'

/**
 * Words of 0.4 s with a confidence each, recognized in `seconds` of audio; the first `agreed` match
 * the draft.
 */
function settled(
  confidences: number[],
  { seconds, agreed = 0 }: { seconds: number; agreed?: number },
) {
  const words = confidences.map((confidence, i) => {
    return { text: `w${i}`, start: i * 0.4, end: (i + 1) * 0.4, confidence }
  })
  const recognized = { words, agreed, language: 'en', logProbability: -0.1, tokens: [] }
  return stableWords(recognized, seconds, moonshineThresholds).map((word) => word.text)
}

test('a partial shows words well before the end of the audio', () => {
  assert.deepEqual(settled([0.9, 0.9, 0.9], { seconds: 2 }), ['w0', 'w1', 'w2'])
})

test('a partial omits a last word that may be incomplete, unless recognized before', () => {
  assert.deepEqual(settled([0.9, 0.9, 0.9], { seconds: 1.2 }), ['w0', 'w1'])
  assert.deepEqual(settled([0.9, 0.9, 0.9], { seconds: 1.2, agreed: 3 }), ['w0', 'w1', 'w2'])
})

test('a partial stops at a late word of low confidence', () => {
  assert.deepEqual(settled([0.9, 0.2, 0.9], { seconds: 1.7 }), ['w0'])
  assert.deepEqual(settled([0.9, 0.2, 0.9], { seconds: 2.5 }), ['w0', 'w1', 'w2'])
})

/** A stub of the small model that returns nothing unless it is forced to, and its partial. */
async function partialOf(t: TestContext, { isFirst }: { isFirst: boolean }) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'channel')
  await writeFile(path, Buffer.alloc(32_000))
  const word = { text: 'Hello', start: 0.1, end: 0.3, confidence: 0.2 }
  const later = { ...word, text: 'hello', start: 0.3, end: 0.5 }
  const recognizer: Pick<Recognizer, 'recognizePartial' | 'thresholds'> = {
    thresholds: moonshineThresholds,
    async recognizePartial(_audio, { forceNonEmpty }) {
      const words = forceNonEmpty ? [word, later] : []
      return { words, agreed: 0, language: 'en', logProbability: -0.5, tokens: [7] }
    },
  }
  const utterance = { path, segment: { start: 8000, end: 14_000 } }
  const { signal } = new AbortController()
  const options = { language: undefined, languages: [], vocabulary: [], signal }
  const { words } = await recognizePartial(recognizer, { utterance, draft: [], isFirst }, options)
  return words.map(({ text, start }) => `${text} ${start}`)
}

test('the first partial shows a single word of any confidence, later ones do not', async (t) => {
  assert.deepEqual(await partialOf(t, { isFirst: true }), ['Hello 0.6'])
  assert.deepEqual(await partialOf(t, { isFirst: false }), [])
})

/** Models that recognize "two" and "six" in any audio, and whose calls are recorded. */
async function openFragments(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'channel')
  await writeFile(path, Buffer.alloc(4 * 32_000))
  const lengths: number[] = []
  const recognizer: Pick<Recognizer, 'recognize' | 'capabilities' | 'thresholds'> = {
    thresholds: moonshineThresholds,
    capabilities: describeMoonshine('base').capabilities,
    async recognize(pieces) {
      lengths.push(...pieces.map(({ length }) => length))
      const words = [
        { text: 'two', start: 0.2, end: 0.8, confidence: 0.9 },
        { text: 'six', start: 1.2, end: 1.8, confidence: 0.9 },
      ]
      return pieces.map(() => {
        return { words, language: 'en', logProbability: -0.1, complete: true, warnings: [] }
      })
    },
  }
  const detector = { detect: async () => new Float32Array(100) }
  const { signal } = new AbortController()
  const options = { language: 'en', languages: [], vocabulary: [], signal }
  return { models: { recognizer, detector }, path, lengths, options }
}

test('a final is recognized without the pauses between fragments, and keeps their times', async (t) => {
  const { models, path, lengths, options } = await openFragments(t)
  const segment = { start: 16_000, end: 64_000, pauses: [{ start: 32_000, end: 48_000 }] }
  const { words } = await recognizeFinal(models, { path, segment }, options)
  assert.deepEqual(lengths, [32_000])
  assert.deepEqual(
    words.map(({ text, start }) => [text, start]),
    [
      ['two', 1.2],
      ['six', 3.2],
    ],
  )
  // Samples around the utterance have other pauses.
  const context = { start: 0, end: 64_000 }
  await recognizeFinal(models, { path, segment, context }, options)
  assert.equal(lengths[1], 64_000)
})

test('a final has no words of the fragments before it', async (t) => {
  const { models, path, lengths, options } = await openFragments(t)
  const segment = { start: 44_000, end: 64_000 }
  const context = { start: 16_000, end: 64_000, pauses: [{ start: 32_000, end: 48_000 }] }
  const final = await recognizeFinal(models, { path, segment, context }, options)
  assert.deepEqual(lengths, [32_000])
  assert.deepEqual(
    final.words.map(({ text, start }) => [text, start]),
    [['six', 3.2]],
  )
  assert.equal(final.wordBefore, 'two')
})

test('an utterance that was cut inside a sentence does not end it', () => {
  const texts = (last: string, { end, more = [] }: { end: number; more?: string[] }) => {
    const words = ['one', last, ...more].map((text, start) => ({ text, start }))
    const segment = { start: 0, end: 32_000 }
    return wordsWithin(words, { segment, context: { start: 0, end } }).words.map(({ text }) => text)
  }
  assert.deepEqual(texts('two.', { end: 40_000 }), ['one', 'two'])
  assert.deepEqual(texts('two.', { end: 32_000 }), ['one', 'two.'])
  assert.deepEqual(texts('two.', { end: 40_000, more: ['Three.'] }), ['one', 'two.'])
  for (const kept of ['two?', 'two...', 'U.S.']) {
    assert.deepEqual(texts(kept, { end: 40_000 }), ['one', kept])
  }
})
