import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findTestWeights } from '../../../scripts/tests/test-tools/test-weights.ts'
import { loadWhisper } from '../../../src/asr/engines/whisper/network.ts'
import { convertWhisper } from '../../../src/asr/engines/whisper/weights/convert.ts'

const weights = findTestWeights('whisper-base')
const skip = weights.missing ?? false
const FRAMES = 3000
const prompt = [50258, 50259, 50359, 50363]
/** What CTranslate2 4.8.5 writes for these features with the same weights as 32-bit floats. */
const greedy = [522, 66, 2081, 3717, 29659, 8]
const shown = [0, 11, 220, 50257, 50362, 51864]
const expected: Record<number, number[]> = {
  0: [-3.4179, -2.2485, 1.0864, 2.1195, -2.4836, -6.83],
  1: [-12.9473, -15.2836, -15.7225, -11.3617, -18.2543, -18.5505],
  4: [2.9834, 6.8786, 4.4039, 3.8103, 2.2945, -0.4604],
}

/** Features without a recording: anyone can make the same ones. */
function makeFeatures(mels: number) {
  const data = Float32Array.from({ length: mels * FRAMES }, (_, i) => {
    const [mel, t] = [Math.floor(i / FRAMES), i % FRAMES]
    return Math.sin(mel * 0.21 + t * 0.035) * Math.cos(t * 0.011) * 0.7
  })
  return { data, frames: FRAMES }
}

for (const [precision, tolerance] of [
  ['fp32', 0.001],
  ['int8', 1.5],
] as const) {
  test(`Whisper base matches the logits of CTranslate2 (${precision})`, { skip }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steno-whisper-'))
    try {
      const { signal } = new AbortController()
      await convertWhisper(weights.folder!, folder, { signal, precision })
      const network = await loadWhisper(folder)
      const { vocabulary, alignmentHeads, languages, textPositions } = network.config
      assert.deepEqual([vocabulary, alignmentHeads.length, textPositions], [51_865, 8, 448])
      assert.equal(Object.keys(languages).length, 99)
      const audio = await network.encode([makeFeatures(network.config.mels)])
      const decoder = network.decoder(audio, [0])
      let output = await decoder.step([prompt], { lastOnly: true })
      for (const [step, token] of greedy.entries()) {
        const { logits } = output
        if (precision === 'fp32') assert.equal(logits.indexOf(Math.max(...logits)), token)
        for (const [i, value] of (expected[step] ?? []).entries()) {
          assert.ok(Math.abs(logits[shown[i]!]! - value) < tolerance, `${logits[shown[i]!]}`)
        }
        output = await decoder.step([[token]], { lastOnly: true })
      }
      await network.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })
}
