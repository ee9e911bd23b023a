import assert from 'node:assert/strict'
import test from 'node:test'
import { createDialogue } from '../../../../test/support/asr/dialogue.ts'
import { inferSpeakers } from './vbx.ts'
import { meanDirection } from './vectors.ts'

/** The weight of each speaker over all windows, in windows. */
function weightsOf(posteriors: readonly Float64Array[]): number[] {
  return Array.from(posteriors[0]!, (_, k) => posteriors.reduce((sum, share) => sum + share[k]!, 0))
}

function embeddingsOf(letters: string): Float32Array[] {
  return createDialogue(letters).windows.map(({ embedding }) => embedding)
}

test('a voice split over two initial clusters is merged', () => {
  const embeddings = embeddingsOf('a'.repeat(90))
  const start = embeddings.map((_, t) => t % 2)
  const weights = weightsOf(inferSpeakers(embeddings, { start, speakerCount: 2 }))
  assert.ok(Math.max(...weights) > embeddings.length - 1)
})

test('two voices stay separate, and posteriors of each window add up to 1', () => {
  const embeddings = embeddingsOf(`${'a'.repeat(30)} ${'b'.repeat(15)}`)
  const start = embeddings.map((_, t) => (t < embeddings.length / 2 ? 0 : 1))
  const posteriors = inferSpeakers(embeddings, { start, speakerCount: 2 })
  for (const share of posteriors) assert.ok(Math.abs(share[0]! + share[1]! - 1) < 1e-9)
  const [long, short] = weightsOf(posteriors)
  assert.ok(Math.abs(long! / short! - 2) < 0.2)
})

test('wrong initial assignments are corrected', () => {
  const embeddings = embeddingsOf(`${'a'.repeat(40)} ${'b'.repeat(40)}`)
  // A third of each half starts with the speaker of the other half.
  const start = embeddings.map(
    (_, t) => (t % 3 === 0 ? 1 : 0) ^ (t < embeddings.length / 2 ? 0 : 1),
  )
  const posteriors = inferSpeakers(embeddings, { start, speakerCount: 2 })
  const recognized = posteriors.map((share) => (share[0]! > share[1]! ? 'a' : 'b')).join('')
  assert.match(recognized, /^a+b+$/)
})

test('an ambiguous window is assigned by its neighbors', () => {
  const embeddings = embeddingsOf(`${'a'.repeat(30)} ${'b'.repeat(30)}`)
  const between = meanDirection(
    embeddings,
    embeddings.map(() => 1),
  )
  const audio = [...embeddings.slice(0, 10), between, ...embeddings.slice(10), between]
  const start = audio.map((_, t) => (t < audio.length / 2 ? 0 : 1))
  const posteriors = inferSpeakers(audio, { start, speakerCount: 2 })
  assert.ok(posteriors[10]![0]! > 0.5)
  assert.ok(posteriors.at(-1)![1]! > 0.5)
})

test('inferSpeakers of no embeddings returns an empty list', () => {
  assert.deepEqual(inferSpeakers([], { start: [], speakerCount: 2 }), [])
})

test('a four-second voice is kept in half a minute but not in ten', () => {
  for (const [words, kept] of [
    [60, true],
    [1400, false],
  ] as const) {
    const embeddings = embeddingsOf('a'.repeat(words))
    const odd = createDialogue('b'.repeat(10)).windows.map(({ embedding }) => embedding)
    const audio = [...embeddings, ...odd]
    const start = audio.map((_, t) => (t < embeddings.length ? 0 : 1))
    const [, other] = weightsOf(inferSpeakers(audio, { start, speakerCount: 2 }))
    assert.equal(other! > odd.length / 2, kept)
  }
})

test('penaltyScale keeps a short voice in ten minutes', () => {
  const embeddings = embeddingsOf('a'.repeat(1400))
  const odd = createDialogue('b'.repeat(10)).windows.map(({ embedding }) => embedding)
  const audio = [...embeddings, ...odd]
  const start = audio.map((_, t) => (t < embeddings.length ? 0 : 1))
  const [, other] = weightsOf(inferSpeakers(audio, { start, speakerCount: 2, penaltyScale: 0.125 }))
  assert.ok(other! > odd.length / 2)
})
