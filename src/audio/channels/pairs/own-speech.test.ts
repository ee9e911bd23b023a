import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannelAnalysis, WINDOW_SAMPLES } from '../analyze-channels.ts'

const SAMPLES = WINDOW_SAMPLES / 2

function noise(seed: number, level: number): Float32Array {
  let state = seed
  return Float32Array.from({ length: SAMPLES }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return level * (state / 2 ** 31 - 1)
  })
}

/** Groups four turns of two voices, of which each reaches each channel with a gain. */
function groupsOf(gains: readonly (readonly [number, number])[], delay = 0): number[][] {
  const analysis = createChannelAnalysis(2)
  for (let turn = 0; turn < 4; turn++) {
    const spoken = noise(turn + 7, 0.3).fill(0, 0, 8192)
    const planes = gains.map((ofVoices, channel) => {
      const gain = ofVoices[turn % 2]!
      return noise(turn + 70 + channel, 0.002).map((sample, i) => {
        return sample + gain * (spoken[i - channel * delay] ?? 0)
      })
    })
    const speech = gains.map((ofVoices) => {
      return new Float32Array(SAMPLES / 512).fill(ofVoices[turn % 2]! > 0 ? 1 : 0, 16)
    })
    analysis.write(planes as Float32Array<ArrayBuffer>[], speech)
  }
  return analysis.result('auto').map(({ channels }) => channels)
}

test('one party beside the sum of both is a call, also with a delay', () => {
  for (const delay of [0, 3200, 12_000]) {
    const gains = [
      [1, 0],
      [0.7, 0.7],
    ] as const
    assert.deepEqual(groupsOf(gains, delay), [[0], [1]], `${delay}`)
    assert.deepEqual(groupsOf(gains.toReversed(), delay), [[0], [1]], `${delay}`)
  }
})

test('a voice in the middle and one panned to a side are one scene', () => {
  const gains = [
    [1, 1],
    [1, 0.4],
  ] as const
  assert.deepEqual(groupsOf(gains), [[0, 1]])
})
