import assert from 'node:assert/strict'
import test from 'node:test'
import { createDialogue, embeddingOf, inLetters } from '../../../../test/support/asr/dialogue.ts'
import type { Word } from '../../../transcript/transcript.ts'
import { clusterSpeakers } from '../clustering/cluster-speakers.ts'
import { assignWords } from './word-speakers.ts'

function assign(letters: string, count = 2): string {
  const { words, windows } = createDialogue(letters)
  return inLetters(
    assignWords(words, { windows, centroids: clusterSpeakers(windows).centroids(count) }).speakers,
  )
}

test('each word is assigned to the voice that says it', () => {
  const letters = 'aaaaaaaa bbbbbbbb aaaaaaaa bbbb aaaaaaaaaaaa'
  assert.equal(assign(letters), letters.replaceAll(' ', ''))
})

test('turns change without a pause', () => {
  const recognized = assign('aaaaaaaaaaaabbbbbbbbbbbbaaaaaaaaaaaa')
  assert.match(recognized, /^a{11,13}b{10,14}a{11,13}$/)
})

test('a turn change snaps to the nearest sentence end or pause', () => {
  const centroids = [embeddingOf({ a: 1 }, 1), embeddingOf({ b: 1 }, 2)]
  const { words, windows } = createDialogue('aaaaaaaaaabbbbbbbbbb')
  const turnAfter = (turnWords: readonly Word[]) => {
    return inLetters(assignWords(turnWords, { windows, centroids }).speakers).indexOf('b')
  }
  const turn = turnAfter(words)
  for (const shift of [-1, 1]) {
    const sentence = words.map((word, i) =>
      i === turn + shift - 1 ? { ...word, text: 'end.' } : word,
    )
    assert.equal(turnAfter(sentence), turn + shift)
    const edge = words[turn + shift]!
    const pause = words.map((word) =>
      word === edge ? { ...word, start: word.start + 0.16 } : word,
    )
    assert.equal(turnAfter(pause), turn + shift)
  }
})

test('one window of another voice does not change the speaker', () => {
  const { words, windows } = createDialogue('aaaaaaaaaaaaaaaa')
  const other = createDialogue('bbbbbbbbbbbbbbbb').windows
  const middle = Math.floor(windows.length / 2)
  const mixed = windows.map((window, i) => (i === middle ? other[i]! : window))
  const centroids = [embeddingOf({ a: 1 }, 1), embeddingOf({ b: 1 }, 2)]
  assert.equal(
    inLetters(assignWords(words, { windows: mixed, centroids }).speakers),
    'a'.repeat(16),
  )
})

test('words without a window get the speaker of their neighbors', () => {
  const { words, windows } = createDialogue('aaaaaaaa bbbbbbbb')
  const deaf = windows.filter(({ end }) => end < words[12]!.start * 16_000)
  const centroids = [embeddingOf({ a: 1 }, 1), embeddingOf({ b: 1 }, 2)]
  const recognized = assignWords(words, { windows: deaf, centroids })
  assert.equal(inLetters(recognized.speakers), 'aaaaaaaabbbbbbbb')
  assert.ok(recognized.margins.at(-1)! < recognized.margins[0]!)
})

test('without voices or words there are no confident assignments', () => {
  assert.deepEqual(assignWords([], { windows: [], centroids: [] }), { speakers: [], margins: [] })
  const { speakers: speakerOf, margins } = assignWords(createDialogue('aa').words, {
    windows: [],
    centroids: [],
  })
  assert.deepEqual(speakerOf, [0, 0])
  for (const margin of margins) assert.ok(margin < 0)
})

test('the margin is larger for known voices than for an unknown one', () => {
  const { words, windows } = createDialogue('aaaaaaaa bbbbbbbb cccccccc')
  const centroids = [embeddingOf({ a: 1 }, 1), embeddingOf({ b: 1 }, 2)]
  const { margins } = assignWords(words, { windows: windows.slice(), centroids })
  assert.ok(margins[4]! > margins[20]!)
})

test('centroids are refined from the words assigned to them', () => {
  const { words, windows } = createDialogue('aaaaaaaaaaaa bbbbbbbbbbbb aaaaaaaaaaaa bbbbbbbbbbbb')
  // Vectors of one window each are as uncertain as a window.
  const centroids = [embeddingOf({ a: 1 }, 1), embeddingOf({ b: 1 }, 2)]
  const { margins } = assignWords(words, { windows, centroids })
  const mean = margins.reduce((sum, margin) => sum + margin, 0) / margins.length
  assert.ok(mean > 0.35, `${mean}`)
})

/** A window between two times in seconds, of one speaker. */
function recognized(from: number, to: number, cluster: string, seed: number) {
  return { start: from * 16_000, end: to * 16_000, embedding: embeddingOf({ [cluster]: 1 }, seed) }
}
const pure = [embeddingOf({ a: 1 }, 1), embeddingOf({ b: 1 }, 2)]

test('a window has the most weight on the words in its middle', () => {
  const words = [{ text: 'so', start: 1, end: 1.3, confidence: 1 }]
  const windows = [
    recognized(0.1, 1.3, 'b', 3),
    recognized(0.55, 1.75, 'a', 4),
    recognized(1, 2.2, 'b', 5),
  ]
  assert.deepEqual(assignWords(words, { windows, centroids: pure }).speakers, [0])
})

test('centroids are not refined from mixed or short windows', () => {
  const words = [0, 1, 2, 3, 4].map((start) => ({
    text: 'so.',
    start,
    end: start + 0.9,
    confidence: 1,
  }))
  const clear = [
    recognized(0, 1, 'a', 3),
    recognized(1, 2, 'a', 4),
    recognized(2, 3, 'b', 5),
    recognized(3, 4, 'b', 6),
    recognized(4, 5, 'a', 13),
  ]
  const mixed = [
    recognized(1.3, 2.3, 'z', 7),
    recognized(1.35, 2.35, 'z', 8),
    recognized(1.2, 2.4, 'z', 9),
  ]
  const short = Array.from({ length: 12 }, (_, i) =>
    recognized(0.2 + i / 100, 0.5 + i / 100, 'z', 20 + i),
  )
  const windows = [clear[0]!, ...short, clear[1]!, ...mixed, ...clear.slice(2)]
  const { margins } = assignWords(words, { windows, centroids: pure })
  assert.ok(margins[4]! > 0.4, `${margins}`)
})
