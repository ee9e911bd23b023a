import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clarity, leakOf, sumOf, voice } from '../../../../test/support/audio/leaking-voices.ts'
import type { PlanarSamples } from '../../../audio/pcm.ts'
import { VAD_FRAME } from '../../segmentation/vad-frames.ts'
import { crosstalkStart, LiveCrosstalk } from './live-crosstalk.ts'

const SECOND = 16_000

/** Frames of two people who talk all the time, each of whom leaks into the other channel. */
function leakingCall(seconds: number, { delay = 0 } = {}) {
  const frames = Math.floor((seconds * SECOND) / VAD_FRAME)
  const [first, second] = [voice(1, frames * VAD_FRAME), voice(2, frames * VAD_FRAME)] as const
  const heard = [
    sumOf(first, leakOf(second, 0.25, delay)),
    sumOf(second, leakOf(first, 0.25, delay)),
  ]
  return { voices: [first, second] as const, heard, frames }
}

function frameAt(planes: PlanarSamples, frame: number): PlanarSamples {
  return planes.map((plane) => plane.slice(frame * VAD_FRAME, (frame + 1) * VAD_FRAME))
}

/** Removes the crosstalk as it comes; `corrected` also has what was corrected later. */
function remove(heard: PlanarSamples, { first = 0, frames }: { first?: number; frames: number }) {
  const crosstalk = new LiveCrosstalk(heard.length)
  const planes = heard.map((plane) => new Float32Array(plane.length))
  const corrected = heard.map((plane) => new Float32Array(plane.length))
  const isCrosstalk: (readonly boolean[])[] = []
  for (let frame = first; frame < frames; frame++) {
    const clean = crosstalk.next(frame, frameAt(heard, frame))
    assert.equal(clean === undefined, frame === first)
    if (!clean) continue
    isCrosstalk[frame - 1] = clean.isCrosstalk
    for (const [channel, samples] of clean.planes.entries()) {
      planes[channel]!.set(samples, (frame - 1) * VAD_FRAME)
      corrected[channel]!.set(samples, (frame - 1) * VAD_FRAME)
    }
    for (const [channel, samples] of (clean.correction?.planes ?? []).entries()) {
      corrected[channel]!.set(samples, clean.correction!.frame * VAD_FRAME)
    }
  }
  return { planes, corrected, isCrosstalk }
}

for (const { title, delay, least } of [
  { title: 'crosstalk', delay: 0, least: 14 },
  { title: 'an echo after 300 ms', delay: 4800, least: 10 },
]) {
  test(`${title} of two people who talk all the time is subtracted in a session`, () => {
    const { voices, heard, frames } = leakingCall(20, { delay })
    const { planes } = remove(heard, { frames })
    const range = { from: 8 * SECOND, to: 19 * SECOND }
    for (const [channel, own] of voices.entries()) {
      const before = clarity(heard[channel]!, own, range)
      const gained = clarity(planes[channel]!, own, range) - before
      assert.ok(gained > least, `${gained} dB in channel ${channel}`)
    }
  })
}

test('crosstalk that came before it was found is subtracted afterwards', () => {
  const { voices, heard, frames } = leakingCall(5)
  const { planes, corrected } = remove(heard, { frames })
  for (const [channel, own] of voices.entries()) {
    const gained = clarity(corrected[channel]!, own) - clarity(planes[channel]!, own)
    assert.ok(gained > 1, `${gained} dB`)
  }
})

test('frames with only crosstalk that came before it was found become silent', () => {
  const { voices, frames } = leakingCall(4)
  const heard = [voices[0], leakOf(voices[0], 0.25)]
  const { planes, corrected } = remove(heard, { frames })
  const energyOf = (samples: Float32Array) => {
    return samples.subarray(0, SECOND / 2).reduce((sum, sample) => sum + sample ** 2, 0)
  }
  assert.ok(energyOf(planes[1]!) > 1)
  assert.ok(energyOf(corrected[1]!) < 0.05 * energyOf(planes[1]!))
})

test('what a session subtracts depends on audio and position alone', () => {
  const restart = 136 * 31
  const { heard, frames } = leakingCall(140)
  const start = crosstalkStart(restart)
  // They talk before the frame at which a restart begins, and after it. Silence takes less time.
  for (const plane of heard) {
    plane.fill(0, 0, (start - 300) * VAD_FRAME)
    plane.fill(0, (start + 300) * VAD_FRAME, (restart - 600) * VAD_FRAME)
  }
  const atOnce = remove(heard, { frames })
  const resumed = remove(heard, { first: start, frames })
  assert.ok(start > 300, 'a restart does not read everything')
  const from = restart * VAD_FRAME
  for (const [channel, plane] of resumed.planes.entries()) {
    assert.deepEqual(plane.subarray(from), atOnce.planes[channel]!.subarray(from))
  }
  assert.deepEqual(resumed.isCrosstalk.slice(restart), atOnce.isCrosstalk.slice(restart))
})

test('when the next canceller takes over, it has learned', () => {
  const { voices, heard, frames } = leakingCall(83)
  const { planes } = remove(heard, { frames })
  const range = { from: 80.2 * SECOND, to: 82.2 * SECOND }
  const before = clarity(heard[0]!, voices[0], range)
  const gained = clarity(planes[0]!, voices[0], range) - before
  assert.ok(gained > 12, `${gained} dB`)
})

test('frames of crosstalk alone are distinguished from those that also have speech', () => {
  const { voices, frames } = leakingCall(20)
  const own = voices[0].map((sample) => 0.2 * sample)
  const { isCrosstalk } = remove([sumOf(own, leakOf(voices[1], 0.2)), voices[1]], { frames })
  const isLoud = (plane: Float32Array, n: number) => {
    const frame = plane.subarray(n * VAD_FRAME, (n + 1) * VAD_FRAME)
    return frame.some((sample) => Math.abs(sample) > 0.02)
  }
  const later = Array.from({ length: frames - 1 }, (_, n) => n).slice(10 * 31)
  const shareOf = (chosen: number[]) => {
    return chosen.filter((n) => isCrosstalk[n]![0]).length / chosen.length
  }
  const spoken = shareOf(later.filter((n) => isLoud(own, n)))
  const leaked = shareOf(later.filter((n) => !isLoud(own, n) && isLoud(voices[1], n)))
  assert.ok(spoken < 0.4, `${spoken}`)
  assert.ok(leaked > 0.6, `${leaked}`)
})

test('channels without crosstalk stay as they are, a frame later', () => {
  const { voices, frames } = leakingCall(10)
  const { planes } = remove([...voices], { frames })
  for (const [channel, own] of voices.entries()) {
    const known = (frames - 1) * VAD_FRAME
    assert.deepEqual(planes[channel]!.subarray(0, known), own.subarray(0, known))
  }
})
