import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../config/config.ts'
import { bundledModels } from '../model-files/bundled-packages.ts'
import { loadVad } from './vad.ts'
import { CONTEXT_SAMPLES, VAD_FRAME } from './vad-frames.ts'

const detector = await loadVad(bundledModels(readConfig({}).models.folder).vad)

/** A buzz of 120 Hz with the formants of an open vowel, loud from `from` to `to` seconds. */
function vowel(seconds: number, from: number, to: number): Float32Array {
  return Float32Array.from({ length: seconds * 16_000 }, (_, i) => {
    const t = i / 16_000
    if (t < from || t >= to) return 0
    let sum = 0
    for (let k = 1; k <= 30; k++) {
      const hz = 120 * k * (1 + 0.02 * Math.sin(5 * t))
      const loudness =
        Math.exp(-(((hz - 700) / 200) ** 2)) + 0.6 * Math.exp(-(((hz - 1200) / 250) ** 2)) + 0.05
      sum += loudness * Math.sin(2 * Math.PI * hz * t)
    }
    return 0.1 * sum * (0.6 + 0.4 * Math.sin(2 * Math.PI * 4 * t))
  })
}

test('detect returns one probability per 512 samples, including a short last frame', async () => {
  assert.equal((await detector.detect(new Float32Array(VAD_FRAME * 7 + 1))).length, 8)
  assert.equal((await detector.detect(new Float32Array(0))).length, 0)
})

test('silence has a low speech probability', async () => {
  const speech = await detector.detect(new Float32Array(16_000 * 5))
  assert.ok(speech.every((probability) => probability < 0.1))
})

test('the number of frames per call changes only rounding', async () => {
  const audio = vowel(4, 1, 3)
  const inputs = Array.from({ length: 4 * 31 }, (_, frame) => {
    const first = frame * VAD_FRAME
    return audio.slice(first, first + CONTEXT_SAMPLES + VAD_FRAME)
  })
  const whole = await detector.stream()(inputs)
  const next = detector.stream()
  const found: number[] = []
  for (let n = 1; inputs.length > 0; n++) found.push(...(await next(inputs.splice(0, n))))
  assert.equal(found.length, whole.length)
  assert.ok(whole.every((one, n) => Math.abs(one - found[n]!) < 1e-5))
})

test('a stream begins in the state after silence, also if it begins with speech', async () => {
  const audio = vowel(3, 0, 3)
  const frames = Array.from({ length: 80 }, (_, frame) => {
    const first = frame * VAD_FRAME
    return audio.slice(first, first + CONTEXT_SAMPLES + VAD_FRAME)
  })
  const silence = Array.from({ length: 48 }, () => new Float32Array(CONTEXT_SAMPLES + VAD_FRAME))
  const afterSilence = (await detector.stream()([...silence, ...frames])).subarray(48)
  const atOnce = await detector.stream()(frames)
  // The network settles over seconds. From a state of zeros the difference is 0.95.
  assert.ok(atOnce.every((one, n) => Math.abs(one - afterSilence[n]!) < 0.3))
})

test('a sound is detected at its time in a long recording', async () => {
  const seconds = 60
  const speech = await detector.detect(vowel(seconds, 40, 44))
  const at = (second: number) => speech[Math.floor((second * 16_000) / VAD_FRAME)]!
  const inside = Math.max(
    ...speech.subarray(
      Math.floor((40 * 16_000) / VAD_FRAME),
      Math.floor((44 * 16_000) / VAD_FRAME),
    ),
  )
  assert.ok(inside > 10 * Math.max(at(10), at(30), at(50)), `inside ${inside}`)
})
