import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_RATE } from '../pcm.ts'
import { createChannelJoiner } from './join-channels.ts'

/** Samples that count up from a time, in seconds. */
function counting(from: number, seconds: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, i) => from * SAMPLE_RATE + i + 1)
}

/** Returns the samples of the first two channels of all blocks. */
function joined(blocks: Iterable<Float32Array[]>): number[][] {
  const channels: number[][] = [[], []]
  for (const block of blocks) {
    for (const [channel, samples] of block.slice(0, 2).entries()) {
      for (const sample of samples) channels[channel]!.push(sample)
    }
  }
  return channels
}

test('what has arrived for all channels is joined, the rest waits', () => {
  const joiner = createChannelJoiner(2)
  joiner.push(0, counting(0, 3))
  assert.deepEqual(joined(joiner.take()), [[], []])
  joiner.push(1, counting(0, 2))
  assert.deepEqual(joined(joiner.take()), [[...counting(0, 2)], [...counting(0, 2)]])
  joiner.push(1, counting(2, 1))
  assert.deepEqual(joined(joiner.finish()), [[...counting(2, 1)], [...counting(2, 1)]])
})

test('a channel that ended, or begins later, is silent for that time', () => {
  const joiner = createChannelJoiner(16)
  joiner.push(0, counting(0, 40))
  assert.deepEqual(joined(joiner.take()), [[...counting(0, 10)], [...new Float32Array(160_000)]])
  // Its beginning is silence that it has already got.
  joiner.push(1, new Float32Array(4 * SAMPLE_RATE))
  joiner.push(1, new Float32Array(8 * SAMPLE_RATE))
  joiner.push(1, counting(12, 1))
  const rest = joined(joiner.finish())
  assert.deepEqual(rest[0], [...counting(10, 30)])
  const silence = (seconds: number) => new Float32Array(seconds * SAMPLE_RATE)
  assert.deepEqual(rest[1], [...silence(2), ...counting(12, 1), ...silence(27)])
})

test('one of two channels may be four minutes behind', () => {
  const joiner = createChannelJoiner(2)
  joiner.push(0, new Float32Array(239 * SAMPLE_RATE))
  assert.deepEqual(joined(joiner.take()), [[], []])
  joiner.push(1, counting(0, 2))
  assert.deepEqual(joined(joiner.take())[1], [...counting(0, 2)])
})
