import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  clarity,
  leakOf,
  sumOf,
  voice as voiceOf,
} from '../../../../test/support/audio/leaking-voices.ts'
import { CROSSTALK_BLOCK, FRAME_SAMPLES } from './crosstalk.ts'
import { createCrosstalkRemoval } from './crosstalk-removal.ts'

const BLOCK = CROSSTALK_BLOCK * FRAME_SAMPLES
const BLOCKS = 6
const SAMPLES = BLOCKS * BLOCK

function voice(seed: number): Float32Array {
  return voiceOf(seed, SAMPLES)
}

/** Returns the clarity after the first block. */
function clarityLater(heard: Float32Array, own: Float32Array, from = BLOCK): number {
  return clarity(heard, own, { from })
}

function remove(channels: readonly Float32Array[], balance = 0): Float32Array[] {
  const removal = createCrosstalkRemoval(channels.length, (first, second) => {
    return first === second ? 0 : first < second ? balance : -balance
  })
  const cleaned = channels.map(() => new Float32Array(SAMPLES))
  const blockAt = (start: number) => {
    return channels.map((samples) => {
      const block = new Float32Array(BLOCK)
      block.set(samples.subarray(start, start + BLOCK))
      return block
    })
  }
  removal.add(blockAt(0))
  for (let start = 0; start < SAMPLES; start += BLOCK) {
    removal.add(blockAt(start + BLOCK))
    for (const [channel, plane] of removal.remove().planes.entries()) {
      cleaned[channel]!.set(plane, start)
    }
  }
  return cleaned
}

for (const { title, delay, least } of [
  { title: 'crosstalk', delay: 0, least: 18.8 },
  { title: 'an echo after 300 ms', delay: 4800, least: 14.5 },
]) {
  test(`${title} of two people who talk all the time is subtracted, and their speech kept`, () => {
    const voices = [voice(1), voice(2)] as const
    const heard = [
      sumOf(voices[0], leakOf(voices[1], 0.25, delay)),
      sumOf(voices[1], leakOf(voices[0], 0.25, delay)),
    ]
    const cleaned = remove(heard)
    for (const [channel, own] of voices.entries()) {
      const gained = clarityLater(cleaned[channel]!, own) - clarityLater(heard[channel]!, own)
      assert.ok(gained > least, `${gained} dB in channel ${channel}`)
    }
  })
}

test('what a third channel leaks into two others is not taken for crosstalk between them', () => {
  const voices = [voice(1), voice(2), voice(3)]
  const [first, second, third] = voices as [Float32Array, Float32Array, Float32Array]
  const leaked = sumOf(leakOf(first, 0.2), leakOf(third, 0.1))
  const heard = [sumOf(first, leakOf(third, 0.3, 60)), sumOf(second, leaked), third]
  const cleaned = remove(heard)
  assert.deepEqual(cleaned[2], third)
  for (const channel of [0, 1]) {
    const own = voices[channel]!
    const gained = clarityLater(cleaned[channel]!, own) - clarityLater(heard[channel]!, own)
    assert.ok(gained > 6, `${gained} dB in channel ${channel}`)
  }
})

test('speech that is as quiet as the crosstalk over it is kept', () => {
  const [own, other] = [voice(1).map((sample) => 0.2 * sample), voice(2)]
  const heard = [sumOf(own, leakOf(other, 0.2)), other]
  const gained = clarityLater(remove(heard)[0]!, own) - clarityLater(heard[0]!, own)
  assert.ok(gained > 10, `${gained} dB`)
})

test('crosstalk whose level changes within a second is subtracted', () => {
  const [own, other] = [voice(1), voice(2)]
  const leaked = leakOf(other, 0.2).map((sample, i) => sample * (i % 16_000 < 8000 ? 0.4 : 1))
  const heard = [sumOf(own, leaked), other]
  const gained = clarityLater(remove(heard)[0]!, own) - clarityLater(heard[0]!, own)
  assert.ok(gained > 15, `${gained} dB`)
})

test('speech that leaked into its source is not subtracted from itself', () => {
  const [first, second] = [voice(1).fill(0, 2 * BLOCK), voice(2).fill(0, 0, 2 * BLOCK)]
  const heard = [sumOf(first, leakOf(second, 0.25)), sumOf(second, leakOf(first, 0.25))]
  // Both filters have learned by the fourth block.
  const kept = clarityLater(remove(heard)[1]!, second, 3 * BLOCK)
  assert.ok(kept > 68, `${kept} dB`)
})

for (const { title, gain, delay, least } of [
  { title: 'level and a little in delay', gain: -0.25, delay: 200, least: 3.5 },
  { title: 'delay', gain: 0.25, delay: 6000, least: 10 },
]) {
  test(`a path that changes in ${title} is learned again`, () => {
    const [own, other] = [voice(1), voice(2)]
    const [before, after] = [leakOf(other, 0.25), leakOf(other, gain, delay)]
    const leaked = before.map((sample, i) => (i < 2 * BLOCK ? sample : after[i]!))
    const heard = [sumOf(own, leaked), other]
    const cleaned = remove(heard)[0]!
    const gained = clarityLater(cleaned, own, 2 * BLOCK) - clarityLater(heard[0]!, own, 2 * BLOCK)
    assert.ok(gained > least, `${gained} dB`)
  })
}

test('channels without crosstalk stay as they are', () => {
  const voices = [voice(1), voice(2)]
  assert.deepEqual(remove(voices), voices)
})
