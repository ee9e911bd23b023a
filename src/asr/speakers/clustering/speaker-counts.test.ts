import assert from 'node:assert/strict'
import test from 'node:test'
import type { ChannelSpeakers } from './cluster-speakers.ts'
import { chooseSpeakerCounts } from './speaker-counts.ts'

/**
 * A channel that can be split into up to n speakers; the two nearest of k have the cosine `alike[k
 * - 1]`.
 */
function channel(...alike: number[]): ChannelSpeakers {
  function centroids(count: number): Float32Array[] {
    const speakers = Math.min(count, alike.length)
    const cosine = alike[speakers - 1]!
    const near = [Float32Array.of(1, 0), Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2))]
    const others = Array.from({ length: Math.max(0, speakers - 2) }, () => Float32Array.of(0, 0))
    return [...near, ...others].slice(0, speakers)
  }
  return { count: alike.length, centroids }
}

const start = [1, 1]

test('without requested counts each channel keeps its own', () => {
  assert.deepEqual(
    chooseSpeakerCounts([channel(1, 0.1), channel(1)], { start, counts: {} }),
    [1, 1],
  )
  assert.deepEqual(
    chooseSpeakerCounts([channel(1, 0.1)], { start: [2], counts: { min: 0, max: 0 } }),
    [2],
  )
})

test('an additional speaker is placed where it differs most', () => {
  const channels = [channel(1, 0.6, 0.9), channel(1, 0.3, 0.65)]
  assert.deepEqual(chooseSpeakerCounts(channels, { start, counts: { exact: 3 } }), [1, 2])
  assert.deepEqual(chooseSpeakerCounts(channels, { start, counts: { min: 4 } }), [2, 2])
})

test('with one channel only the requested count is computed', () => {
  const { count, centroids } = channel(1, 0.2, 0.3, 0.4)
  const requested: number[] = []
  const noted = (wanted: number) => {
    requested.push(wanted)
    return centroids(wanted)
  }
  const chosen = chooseSpeakerCounts([{ count, centroids: noted }], {
    start: [1],
    counts: { exact: 4 },
  })
  assert.deepEqual([chosen, requested], [[4], [4]])
  assert.deepEqual(chooseSpeakerCounts([channel(1, 0.2)], { start: [2], counts: { max: 1 } }), [1])
})

test('a requested count does not split one voice in two', () => {
  const counts = { exact: 4 }
  assert.deepEqual(chooseSpeakerCounts([channel(1, 0.2, 0.85, 0.8)], { start: [2], counts }), [2])
  assert.deepEqual(chooseSpeakerCounts([channel(1, 0.2, 0.6, 0.8)], { start: [2], counts }), [3])
  const channels = [channel(1, 0.2, 0.9), channel(1, 0.8)]
  assert.deepEqual(chooseSpeakerCounts(channels, { start, counts }), [2, 1])
})

test('the most similar voices are merged, and each channel keeps one', () => {
  const channels = [channel(1, 0.8), channel(1, 0.3)]
  assert.deepEqual(chooseSpeakerCounts(channels, { start: [2, 2], counts: { max: 3 } }), [1, 2])
  assert.deepEqual(chooseSpeakerCounts(channels, { start: [2, 2], counts: { exact: 1 } }), [1, 1])
})

test('an exact count wins over min and max, and is limited to the voices present', () => {
  const channels = [channel(1, 0.2, 0.3)]
  assert.deepEqual(
    chooseSpeakerCounts(channels, { start: [1], counts: { exact: 2, min: 3, max: 1 } }),
    [2],
  )
  assert.deepEqual(chooseSpeakerCounts(channels, { start: [1], counts: { exact: 9 } }), [3])
})
