import assert from 'node:assert/strict'
import test from 'node:test'
import { TrackMixer } from './track-mixer.ts'

const CHUNK_MS = 20
const chunk = (value: number) => Buffer.alloc(8 * CHUNK_MS, value)
/** The byte that each channel has in each chunk of the mix. */
const valuesOf = (mixed: Buffer, channels: number) => {
  const step = 8 * CHUNK_MS * channels
  return Array.from({ length: mixed.length / step }, (_, i) => [
    ...mixed.subarray(i * step, i * step + channels),
  ])
}

test('the mixer interleaves tracks up to the time that both have reached', () => {
  const mixer = new TrackMixer(2)
  assert.equal(mixer.add(0, chunk(1), 0).length, 0)
  assert.equal(mixer.add(0, chunk(2), 20).length, 0)
  assert.deepEqual(valuesOf(mixer.add(1, chunk(3), 0), 2), [[1, 3]])
  assert.deepEqual(valuesOf(mixer.add(1, chunk(4), 20), 2), [[2, 4]])
  mixer.add(1, chunk(5), 40)
  assert.deepEqual(valuesOf(mixer.finish(), 2), [[0xff, 5]])
})

test('a track that sends no audio is filled with silence after one second', () => {
  const mixer = new TrackMixer(2)
  const parts = Array.from({ length: 100 }, (_, i) => mixer.add(0, chunk(1), i * CHUNK_MS))
  assert.deepEqual(valuesOf(Buffer.concat(parts), 2), Array(50).fill([1, 0xff]))
  // What it sends then is in its place.
  const rest = valuesOf(Buffer.concat([mixer.add(1, chunk(7), 1000), mixer.finish()]), 2)
  assert.deepEqual(rest, [[1, 7], ...Array(49).fill([1, 0xff])])
})

test('the mixer fills gaps, drops duplicates and tolerates jitter and wrong timestamps', () => {
  const mixer = new TrackMixer(1)
  const times = [0, 100, 100, 140, 1e9, undefined]
  const parts = times.map((ms, i) => mixer.add(0, chunk(i), ms))
  const mixed = valuesOf(Buffer.concat(parts), 1).flat()
  assert.deepEqual(mixed, [0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5])
  assert.equal(mixer.add(0, chunk(9), 0).length, 0)
})
