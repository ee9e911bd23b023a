import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannelComparison } from './duplicate-channels.ts'

const speech = (seed: number, level = 0.3) =>
  Float32Array.from(
    { length: 4000 },
    (_, i) => level * Math.sin(i * (0.05 + seed) + 3 * Math.sin(i / 200)),
  )
const mixed = (a: Float32Array, b: Float32Array, share: number) =>
  a.map((s, i) => s + share * b[i]!)
const silence = new Float32Array(4000)

function compare(...channels: Float32Array[]): (number | null)[] {
  const comparison = createChannelComparison(channels.length)
  for (const at of [0, 1000]) {
    comparison.write(channels.map((c) => c.slice(at, at === 0 ? 1000 : 4000)))
  }
  return comparison.result()
}

test('a duplicate channel refers to the lowest channel with the same audio', () => {
  const [a, b] = [speech(0), speech(0.02)]
  assert.deepEqual(compare(a, b, a, b, a), [null, null, 0, 1, 0])
})

test('a difference below -40 dB counts as rounding, a larger one as other audio', () => {
  const [a, b] = [speech(0), speech(0.02)]
  assert.deepEqual(compare(a, mixed(a, b, 0.009)), [null, 0])
  assert.deepEqual(compare(a, mixed(a, b, 0.011)), [null, null])
})

test('channel comparison does not depend on the level of the recording', () => {
  const [a, b] = [speech(0, 1e-4), speech(0.02, 1e-4)]
  assert.deepEqual(compare(a, mixed(a, b, 0.5)), [null, null])
  assert.deepEqual(compare(a, mixed(a, b, 0.005)), [null, 0])
})

test('an inverted or louder copy, or silence beside a voice, is different audio', () => {
  const a = speech(0)
  assert.deepEqual(
    compare(
      a,
      a.map((s) => -s),
    ),
    [null, null],
  )
  assert.deepEqual(
    compare(
      a,
      a.map((s) => 2 * s),
    ),
    [null, null],
  )
  assert.deepEqual(compare(a, silence), [null, null])
  assert.deepEqual(compare(silence, a), [null, null])
})

test('channels that differ only for a moment are different', () => {
  const a = speech(0)
  const b = a.slice()
  b.fill(0, 3900)
  assert.deepEqual(compare(a, b), [null, null])
})

test('silent channels are duplicates', () => {
  assert.deepEqual(compare(silence, silence), [null, 0])
})
