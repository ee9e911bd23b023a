import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clarity, leakOf, sumOf, voice } from '../../../../test/support/audio/leaking-voices.ts'
import type { PlanarSamples } from '../../pcm.ts'
import { type CrosstalkPath, FRAME_SAMPLES } from './crosstalk.ts'
import { CrosstalkCanceller } from './crosstalk-canceller.ts'

const FRAMES = 300
const SAMPLES = FRAMES * FRAME_SAMPLES
const balance = () => 0

function pathOf(source: number, target: number, delay = 0): CrosstalkPath {
  return { source, target, delay, gains: Float64Array.of(0.06, 0.06, 0.06, 0.06, 0.06) }
}

/** Cleans frame by frame, as a session does; `pathsAt` returns the paths known at a frame. */
function clean(
  heard: PlanarSamples,
  pathsAt: (frame: number) => CrosstalkPath[],
  {
    canceller = new CrosstalkCanceller(heard.length, { balance, history: 97 }),
    frames = FRAMES,
  } = {},
): PlanarSamples {
  const cleaned = heard.map((plane) => new Float32Array(plane.length))
  for (let frame = 0; frame < frames; frame++) {
    const start = frame * FRAME_SAMPLES
    canceller.add(heard.map((plane) => plane.slice(start, start + FRAME_SAMPLES)))
    if (frame > 0) {
      for (const [channel, samples] of canceller.clean().entries()) {
        cleaned[channel]!.set(samples, start - FRAME_SAMPLES)
      }
    }
    canceller.learn(pathsAt(frame))
  }
  return cleaned
}

const own = voice(1, SAMPLES)
const other = voice(2, SAMPLES)
const leakOfOther = leakOf(other, 0.25)
const late = { from: 200 * FRAME_SAMPLES, to: SAMPLES - FRAME_SAMPLES }

function gainOf(cleaned: PlanarSamples, heard: PlanarSamples): number {
  return clarity(cleaned[0]!, own, late) - clarity(heard[0]!, own, late)
}

test('a filter that explains the crosstalk is not replaced by one with another delay', () => {
  const heard = [sumOf(own, leakOfOther), other]
  const steady = gainOf(
    clean(heard, () => [pathOf(1, 0)]),
    heard,
  )
  const disturbed = gainOf(
    clean(heard, (frame) => [pathOf(1, 0, frame < 150 ? 0 : 20)]),
    heard,
  )
  assert.ok(steady > 10, `${steady} dB`)
  assert.ok(disturbed > steady - 0.1, `${disturbed} instead of ${steady} dB`)
})

test('a filter that explains nothing is replaced by one with another delay', () => {
  const heard = [sumOf(own, leakOfOther), other]
  const gained = gainOf(
    clean(heard, (frame) => [pathOf(1, 0, frame < 100 ? 20 : 0)]),
    heard,
  )
  assert.ok(gained > 8, `${gained} dB`)
})

test('a path that was found late has learned from the frames before', () => {
  const heard = [sumOf(own, leakOfOther), other]
  const canceller = new CrosstalkCanceller(2, { balance, history: 97 })
  const frames = 180
  clean(heard, (frame) => (frame < frames - 1 ? [] : [pathOf(1, 0)]), { canceller, frames })
  const again = canceller.cleanAgain(60)
  assert.equal(again.length, 60)
  const from = (frames - 1 - 60) * FRAME_SAMPLES
  const cleaned = new Float32Array(SAMPLES)
  for (const [n, planes] of again.entries()) cleaned.set(planes[0]!, from + n * FRAME_SAMPLES)
  const range = { from, to: (frames - 1) * FRAME_SAMPLES }
  const gained = clarity(cleaned, own, range) - clarity(heard[0]!, own, range)
  assert.ok(gained > 8, `${gained} dB`)
})

/** The second voice leaks into the first channel, which leaks into the second one. */
const both = [sumOf(own, leakOfOther), sumOf(other, leakOf(own, 0.25))]

test('after another path was found, sources are cleaned of it at once', () => {
  const canceller = new CrosstalkCanceller(2, { balance, history: 400 })
  canceller.add(both)
  canceller.learn([pathOf(0, 1)])
  for (let frame = 0; frame < 60; frame++) canceller.clean()
  canceller.learn([pathOf(0, 1), pathOf(1, 0)])
  const cleaned = new Float32Array(SAMPLES)
  for (let frame = 60; frame < 75; frame++) {
    cleaned.set(canceller.clean()[1]!, frame * FRAME_SAMPLES)
  }
  const range = { from: 60 * FRAME_SAMPLES, to: 75 * FRAME_SAMPLES }
  const gained = clarity(cleaned, other, range) - clarity(both[1]!, other, range)
  assert.ok(gained > 11, `${gained} dB`)
})

test('frames are cleaned again with all that is known', () => {
  const canceller = new CrosstalkCanceller(2, { balance, history: 97 })
  const frames = 60
  clean(both, (frame) => (frame < frames - 1 ? [pathOf(0, 1)] : [pathOf(0, 1), pathOf(1, 0)]), {
    canceller,
    frames,
  })
  const again = canceller.cleanAgain(3)
  const cleaned = new Float32Array(SAMPLES)
  const from = (frames - 4) * FRAME_SAMPLES
  for (const [n, planes] of again.entries()) cleaned.set(planes[1]!, from + n * FRAME_SAMPLES)
  const range = { from, to: (frames - 1) * FRAME_SAMPLES }
  const gained = clarity(cleaned, other, range) - clarity(both[1]!, other, range)
  assert.ok(gained > 0.8, `${gained} dB`)
})

test('the first of the frames that are cleaned again is complete', () => {
  const canceller = new CrosstalkCanceller(2, { balance, history: 97 })
  clean(both, () => [pathOf(0, 1), pathOf(1, 0)], { canceller, frames: 180 })
  const [, second] = canceller.cleanAgain(20)
  assert.deepEqual(canceller.cleanAgain(19)[0], second)
})

/** Returns the share of the crosstalk from channel 1 in channel 0 that is left. */
function shareLeft(heard: PlanarSamples): number {
  const canceller = new CrosstalkCanceller(2, { balance, history: 97 })
  canceller.learn([pathOf(1, 0)])
  assert.deepEqual(canceller.pathLeft(pathOf(1, 0)), pathOf(1, 0), 'unknown')
  clean(heard, () => [pathOf(1, 0)], { canceller })
  return canceller.pathLeft(pathOf(1, 0)).gains[0]! / 0.06
}

test('what is left of crosstalk is measured where nobody else speaks', () => {
  const alone = shareLeft([leakOfOther, other])
  const share = shareLeft([sumOf(own, leakOfOther), other])
  assert.ok(Math.abs(alone - 0.1) < 1e-9, `${alone}`)
  assert.ok(share < 0.2, `${share}`)
})

test('what is left of crosstalk is measured in the latest frames', () => {
  const after = leakOf(other, 0.25, 9000)
  const changed = leakOfOther.map((x, i) => (i < 60 * FRAME_SAMPLES ? x : after[i]!))
  const share = shareLeft([changed, other])
  assert.ok(share > 0.5, `${share}`)
})

test('sounds below the level of speech are not changed', () => {
  const end = 150 * FRAME_SAMPLES
  const faint = (samples: Float32Array) => samples.map((x, i) => (i < end ? x : x / 1000))
  const heard = [faint(sumOf(own, leakOfOther)), faint(other)]
  const cleaned = clean(heard, () => [pathOf(1, 0)])
  const from = end + 10 * FRAME_SAMPLES
  const known = SAMPLES - FRAME_SAMPLES
  assert.deepEqual(cleaned[0]!.subarray(from, known), heard[0]!.subarray(from, known))
})

test('crosstalk of crosstalk does not change the speech of its source', () => {
  const turn = (samples: Float32Array, n: number) => {
    return samples.map((x, i) => (Math.floor(i / (60 * FRAME_SAMPLES)) % 4 === n ? x : 0))
  }
  const voices = [1, 2, 3].map((seed, n) => turn(voice(seed, SAMPLES), n % 3))
  const [first, second, third] = voices as [Float32Array, Float32Array, Float32Array]
  const heard = [
    sumOf(first, sumOf(leakOf(second, 0.25), leakOf(third, 0.25))),
    sumOf(second, sumOf(leakOf(first, 0.25), leakOf(third, 0.25))),
    sumOf(third, sumOf(leakOf(first, 0.25), leakOf(second, 0.25))),
  ]
  const pairs = [0, 1, 2].flatMap((a) => [0, 1, 2].filter((b) => b !== a).map((b) => pathOf(a, b)))
  const cleaned = clean(heard, () => pairs)
  const range = { from: 240 * FRAME_SAMPLES, to: SAMPLES - FRAME_SAMPLES }
  const kept = clarity(cleaned[0]!, first, range)
  assert.ok(kept > 80, `${kept} dB`)
})

for (const sign of [1, -1]) {
  test(`speech that resembles ${sign} times a quieter voice is kept`, () => {
    const end = 150 * FRAME_SAMPLES
    const tone = (i: number) => 0.3 * Math.sin((2 * Math.PI * 500 * i) / 16_000)
    const first = own.map((x, i) => (i < end ? x : tone(i)))
    const second = other.map((x, i) => (i < end ? x : 0.2 * sign * tone(i)))
    const heard = [first.map((x, i) => (i < end ? x + leakOfOther[i]! : x)), second]
    const cleaned = clean(heard, () => [pathOf(1, 0)])
    const kept = clarity(cleaned[0]!, first, late)
    assert.ok(kept > 10, `${kept} dB`)
  })
}
