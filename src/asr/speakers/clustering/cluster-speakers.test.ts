import assert from 'node:assert/strict'
import test from 'node:test'
import { createDialogue, embeddingOf, inLetters } from '../../../../test/support/asr/dialogue.ts'
import { assignWords } from '../assignment/word-speakers.ts'
import { clusterSpeakers } from './cluster-speakers.ts'
import { dot } from './vectors.ts'

const two = `${'aaaaaaaaaa bbbbbbbbbb '.repeat(4)}`
const four = `${'aaaaaaaaaa bbbbbbbbbb cccccccccc dddddddddd '.repeat(3)}`

/** The letter of each vector: the speaker that it is most similar to. */
function namesOf(centroids: readonly Float32Array[]): string {
  const names = centroids.map((centroid) => {
    const similarity = [...'abcd'].map((name) => dot(centroid, embeddingOf({ [name]: 1 }, 7777)))
    return 'abcd'[similarity.indexOf(Math.max(...similarity))]!
  })
  return names.sort().join('')
}

test('findSpeakers finds as many voices as speak', () => {
  for (const [letters, names] of [
    ['aaaaaaaa '.repeat(9), 'a'],
    [two, 'ab'],
    [four, 'abcd'],
  ] as const) {
    const speakers = clusterSpeakers(createDialogue(letters).windows)
    assert.equal(speakers.count, names.length)
    assert.equal(namesOf(speakers.centroids(speakers.count)), names)
  }
})

test('a lower speaker count merges voices, and a higher one splits them', () => {
  const speakers = clusterSpeakers(createDialogue(four).windows)
  assert.equal(speakers.centroids(2).length, 2)
  assert.equal(speakers.centroids(1).length, 1)
  assert.equal(speakers.centroids(6).length, 6)
  for (const centroid of speakers.centroids(6)) {
    assert.ok(Math.abs(dot(centroid, centroid) - 1) < 1e-5)
  }
})

test('the most similar voices are merged first', () => {
  // a and e sound similar; b does not.
  const windows = createDialogue(two).windows.map((window, i) => {
    const mixture = i % 3 === 0 ? { a: 1 } : i % 3 === 1 ? { a: 0.75, e: 0.6 } : { b: 1 }
    return { ...window, embedding: embeddingOf(mixture, i) }
  })
  assert.equal(namesOf(clusterSpeakers(windows).centroids(2)), 'ab')
})

/** Words of a talk that go to the wrong speaker at this speaker count. */
function wrongWords(letters: string, count: number): number {
  const { words, windows, speakers } = createDialogue(letters)
  const centroids = clusterSpeakers(windows).centroids(count)
  const recognized = inLetters(assignWords(words, { windows, centroids }).speakers)
  return [...recognized].filter((speaker, i) => speaker !== speakers[i]).length
}
const dialogue = 'aaaaaaaaaa. bbbbbbbbbb. aaaaaaaa. bbbbbbbbbbbb. aaaaaaaaaa. bbbbbbbbb. '.repeat(2)

test("a voice too short to be counted is found on request without taking others' words", () => {
  for (const [letters, counted, requested] of [
    [`${dialogue}cccc. aaaaaaaaaa`, 2, 3],
    [`${dialogue}cccc dddd. aaaaaaaaaa`, 2, 4],
    [`${dialogue}ccccc dddd ccc. aaaaaaaaaa`, 3, 4],
  ] as const) {
    assert.equal(clusterSpeakers(createDialogue(letters).windows).count, counted)
    assert.equal(wrongWords(letters, requested), 0)
  }
})

test('requested but absent voices leave the others nearly unchanged', () => {
  assert.ok(wrongWords(`${dialogue}cc dd. aaaaaaaaaa`, 4) <= 4)
  assert.ok(wrongWords(`${dialogue.slice(0, 70)} ccc. aaaaaaaaaa`, 3) <= 3)
})

test('if more voices are requested than found, a moment of noise is not one', () => {
  const { windows } = createDialogue('aaaaaaaaaaaa '.repeat(10))
  // Three overlapping windows: less than two seconds.
  const at = windows.findIndex(({ start, end }) => end - start === 19_200 && start > 160_000)
  for (const [i, window] of windows.slice(at, at + 3).entries()) {
    window.embedding = embeddingOf({ z: 1 }, i)
  }
  const centroids = clusterSpeakers(windows).centroids(2)
  assert.equal(centroids.length, 2)
  for (const centroid of centroids) {
    const [similarity, odd] = ['a', 'z'].map((name) =>
      dot(centroid, embeddingOf({ [name]: 1 }, 99)),
    )
    assert.ok(similarity! - odd! > 0.3)
  }
})

test('there are never more voices than windows, and none without windows', () => {
  assert.equal(clusterSpeakers(createDialogue('a').windows).centroids(3).length, 1)
  assert.equal(clusterSpeakers([]).count, 0)
  assert.deepEqual(clusterSpeakers([]).centroids(2), [])
})

test('a recording of one short word has a voice', () => {
  const speakers = clusterSpeakers(createDialogue('a').windows)
  assert.equal(speakers.count, 1)
  assert.equal(speakers.centroids(1).length, 1)
})

test('a moment of another voice is not counted', () => {
  const { windows } = createDialogue('aaaaaaaa '.repeat(12))
  for (const [i, window] of windows.slice(20, 23).entries()) {
    window.embedding = embeddingOf({ z: 1 }, i)
  }
  assert.equal(clusterSpeakers(windows).count, 1)
})

test('more than twenty voices are limited to twenty', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'].map((name) => name.repeat(20)).join(' ')
  const speakers = clusterSpeakers(createDialogue(letters).windows)
  assert.ok(speakers.count >= 18 && speakers.count <= 20, `${speakers.count}`)
  assert.equal(speakers.centroids(30).length, 20)
})
