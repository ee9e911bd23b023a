import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decodeMedia } from '../../../audio/decode-media.ts'
import { readConfig } from '../../../config/config.ts'
import { bundledModels } from '../../model-files/bundled-packages.ts'
import { loadVad } from '../../segmentation/vad.ts'
import { VAD_FRAME } from '../../segmentation/vad-frames.ts'
import type { LiveAudio } from '../live-engine.ts'
import { createLiveVad } from './live-vad.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-listener-'))
after(() => rmSync(folder, { recursive: true }))

const detector = await loadVad(bundledModels(readConfig({}).models.folder).vad)
const signal = new AbortController().signal
const fixture = new URL('../../../../test/fixtures/jfk.flac', import.meta.url).pathname
const { channels } = await decodeMedia(fixture, join(folder, 'jfk'), { signal, maxSeconds: 60 })
const jfk = readFileSync(channels[0]!.path)
const speech = new Int16Array(jfk.buffer, jfk.byteOffset, jfk.length / 2)

/** Live audio whose channels are these 16-bit samples at 16 kHz. */
function audioOf(name: string, planes: Int16Array[], { isDenoised = false } = {}) {
  const interleaved = new Int16Array(planes[0]!.length * planes.length)
  for (const [channel, plane] of planes.entries()) {
    for (const [i, sample] of plane.entries()) interleaved[i * planes.length + channel] = sample
  }
  const path = join(folder, name)
  writeFileSync(path, new Uint8Array(interleaved.buffer))
  const audio: LiveAudio = {
    path,
    start: 0,
    format: { encoding: 's16', sampleRate: 16_000, channels: planes.length },
    isDenoised,
    channels: planes.map((_, channel) => `${path}.${channel}`),
  }
  return { audio, frames: planes[0]!.length }
}

/**
 * Detects speech in audio that arrives in steps of `step` frames; every `restart`th request goes to
 * a fresh VAD.
 */
async function recognize(
  { audio, frames }: ReturnType<typeof audioOf>,
  { step = frames, restart = Number.POSITIVE_INFINITY } = {},
) {
  for (const path of audio.channels) rmSync(path, { force: true })
  const probabilities: number[][] = audio.channels.map(() => [])
  const levels: number[][] = audio.channels.map(() => [])
  let vad = createLiveVad(detector)
  let requests = 0
  for (let there = Math.min(step, frames); ; there = Math.min(frames, there + step)) {
    const isEnd = there === frames
    for (let got = 1; got > 0; ) {
      if (++requests % restart === 0) vad = createLiveVad(detector)
      const from = probabilities[0]!.length
      const recognized = await vad.detect(audio, { from, frames: there, isEnd })
      got = recognized.probabilities[0]!.length
      for (const [i, values] of recognized.probabilities.entries())
        probabilities[i]!.push(...values)
      for (const [i, values] of recognized.levels.entries()) levels[i]!.push(...values)
    }
    if (isEnd) break
  }
  const samples = audio.channels.map((path) => readFileSync(path))
  return { probabilities, levels, samples }
}

for (const isDenoised of [false, true]) {
  const kind = isDenoised ? 'cleaned sound' : 'sound'
  test(`${kind} yields the same frames for any request sizes, also after a restart`, async () => {
    // Not a whole number of frames.
    const sound = speech.subarray(0, 4 * 16_000 + 100)
    const planes = isDenoised ? [sound] : [sound, sound.toReversed()]
    const audio = audioOf(`same-${isDenoised}`, planes, { isDenoised })
    const atOnce = await recognize(audio)
    const live = await recognize(audio, { step: 12_345, restart: 19 })
    assert.equal(atOnce.probabilities[0]!.length, Math.ceil(sound.length / VAD_FRAME))
    assert.deepEqual([live.levels, live.samples], [atOnce.levels, atOnce.samples])
    for (const [i, channel] of atOnce.probabilities.entries()) {
      const found = live.probabilities[i]!
      assert.equal(found.length, channel.length)
      // Processors may round calls for one frame and for many differently.
      assert.ok(channel.every((one, n) => Math.abs(one - found[n]!) < 1e-5))
    }
  })
}

for (const [channels, expected] of [
  [1, 62],
  [2, 31],
  [8, 8],
] as const) {
  test(`a request for ${channels} channels processes ${expected} frames of each`, async () => {
    const planes = Array.from({ length: channels }, () => speech.subarray(0, 100 * VAD_FRAME))
    const { audio, frames } = audioOf(`step-${channels}`, planes)
    const { levels } = await createLiveVad(detector).detect(audio, { from: 0, frames, isEnd: true })
    assert.deepEqual(
      levels.map(({ length }) => length),
      Array(channels).fill(expected),
    )
  })
}

test('audio without noise reduction is stored unchanged', async () => {
  const { samples } = await recognize(audioOf('plain', [speech.subarray(0, 2 * 16_000)]))
  const bytes = 2 * 2 * 16_000
  assert.deepEqual(samples[0]!.subarray(0, bytes), jfk.subarray(0, bytes))
})

function speechFrames(probabilities: readonly number[]): number {
  return probabilities.filter((probability) => probability >= 0.5).length
}

test('speech 30 dB below the usual level is detected like loud speech', async () => {
  const sound = speech.subarray(0, 6 * 16_000)
  const loud = await recognize(audioOf('loud', [sound]))
  const quiet = await recognize(audioOf('quiet', [sound.map((sample) => sample / 31.6)]))
  const [a, b] = [loud, quiet].map(({ probabilities }) => speechFrames(probabilities[0]!))
  assert.ok(a! > 60, `${a} frames of loud speech`)
  assert.ok(b! > 0.8 * a!, `${b} frames of quiet speech, ${a} of loud`)
})

/** Repeatable noise between -1 and 1 (Lehmer generator). */
function noise(): () => number {
  let seed = 42
  return () => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed / 2_147_483_647) * 2 - 1
  }
}

test('silence, noise and clicks are not detected as speech', async () => {
  const random = noise()
  const sounds: Record<string, (i: number) => number> = {
    silence: () => 0,
    white: () => 0.3 * random(),
    faint: () => 0.002 * random(),
    clicks: (i) => (i % 4000 < 20 ? 0.9 : 0),
  }
  for (const [name, sample] of Object.entries(sounds)) {
    const plane = Int16Array.from({ length: 3 * 16_000 }, (_, i) => sample(i) * 32_767)
    const { probabilities } = await recognize(audioOf(name, [plane]))
    assert.equal(speechFrames(probabilities[0]!), 0, name)
  }
})

test('crosstalk from another channel is not speech, but speech of the channel is', async () => {
  const twice = new Int16Array(2 * speech.length)
  twice.set(speech)
  twice.set(speech, speech.length)
  const quiet = new Int16Array(twice.length)
  for (let i = 80; i < quiet.length; i++) quiet[i] = Math.round(twice[i - 80]! / 5)
  const later = new Int16Array(twice.length)
  later.set(quiet.subarray(0, speech.length))
  later.set(speech, speech.length)
  const first = new Int16Array(twice.length)
  first.set(speech)
  const recognized = await recognize(audioOf('leak', [first, later]), { step: 50_000, restart: 4 })
  const { probabilities, samples } = recognized
  const half = Math.floor(speech.length / VAD_FRAME)
  const voiced = (detected: number[]) => detected.filter((probability) => probability >= 0.5).length
  assert.ok(voiced(probabilities[0]!) > 150)
  assert.ok(voiced(probabilities[1]!.slice(32, half)) < 10, 'the leak')
  assert.ok(voiced(probabilities[1]!.slice(half)) > 150, 'its own')
  // What came before the leak was found is no longer in the file that finals are recognized from.
  const energyOf = (samples: Int16Array) =>
    samples.reduce((sum, sample) => sum + sample * sample, 0)
  const written = new Int16Array(samples[1]!.buffer, samples[1]!.byteOffset, later.length)
  const kept = energyOf(written.subarray(0, 8000)) / energyOf(later.subarray(0, 8000))
  assert.ok(kept < 0.1, `${kept} of the energy of the first half second is left`)
  const start = half * VAD_FRAME
  const added = later.subarray(start).map((sample, i) => sample - written[start + i]!)
  const changed = energyOf(added) / energyOf(later.subarray(start))
  assert.ok(changed < 1e-4, `${changed} of the energy of its own speech`)
})

test('what is left of crosstalk that a loudspeaker distorts is not speech', async () => {
  const first = new Int16Array(speech)
  const later = first.map((_, i) => 500 * Math.tanh((first[i - 80] ?? 0) / 1500))
  const { probabilities } = await recognize(audioOf('distorted', [first, later]))
  assert.ok(speechFrames(probabilities[0]!) > 150)
  const detected = speechFrames(probabilities[1]!.slice(62))
  assert.ok(detected < 25, `${detected} frames`)
})

test('crosstalk into a channel that was recorded louder is not speech once both have spoken', async () => {
  const turns = [speech, speech.toReversed(), speech, speech.subarray(0, 6 * 16_000).toReversed()]
  const length = turns.reduce((sum, turn) => sum + turn.length, 0)
  const [quiet, loud] = [new Int16Array(length), new Int16Array(length)]
  let at = 0
  const starts = turns.map((turn, n) => {
    const [own, crosstalk] = n % 2 === 0 ? [0.25, 0.3] : [0.075, 1]
    quiet.set(
      turn.map((sample) => own * sample),
      at,
    )
    loud.set(
      turn.map((sample) => crosstalk * sample),
      at,
    )
    at += turn.length
    return Math.floor((at - turn.length) / VAD_FRAME)
  })
  const audio = audioOf('balance', [quiet, loud])
  const { probabilities, samples } = await recognize(audio)
  const voiced = (channel: number, turn: number) => {
    return speechFrames(probabilities[channel]!.slice(starts[turn]! + 32, starts[turn + 1]))
  }
  assert.ok(voiced(0, 2) > 150, `${voiced(0, 2)} frames of the quiet party`)
  assert.ok(voiced(1, 2) < 10, `${voiced(1, 2)} frames of what leaks from it`)
  assert.ok(voiced(1, 3) > 60, `${voiced(1, 3)} frames of the loud party`)
  assert.ok(voiced(0, 3) < 10, `${voiced(0, 3)} frames of what leaks from it`)
  const restarted = await recognize(audio, { step: 50_000, restart: 7 })
  assert.deepEqual(restarted.samples, samples)
  for (const [channel, found] of restarted.probabilities.entries()) {
    assert.ok(found.every((one, n) => Math.abs(one - probabilities[channel]![n]!) < 1e-5))
  }
})
