import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../../test/support/random/random.ts'
import {
  type BoundaryNetwork,
  CANDIDATES,
  candidateInputs,
  INPUTS,
  medianOffset,
  offsetOf,
  SOUNDS,
  scoreCandidates,
  spectrumOf,
} from './boundary-network.ts'

const middle = (CANDIDATES - 1) / 2
/** Of the inputs of a candidate, those of the 20 ms before it and of the 20 ms after it. */
const [before, after] = [(2 * INPUTS) / 6, (3 * INPUTS) / 6]

test('the inputs of a candidate are the bands before and after it', () => {
  const audio = Float32Array.from({ length: 32_000 }, (_, i) => {
    return i < 16_000 ? 0 : 0.1 * Math.sin(i * 0.7) * (1 + Math.sin(i * 0.013))
  })
  const inputs = candidateInputs(spectrumOf(audio), 1)
  const mean = (candidate: number, span: number) => {
    const values = inputs.subarray(candidate * INPUTS + span).subarray(0, INPUTS / 6)
    return values.reduce((a, b) => a + b) / values.length
  }
  const changes = Array.from({ length: CANDIDATES }, (_, i) => mean(i, after) - mean(i, before))
  const largest = changes.indexOf(Math.max(...changes))
  assert.ok(Math.abs(largest - middle) <= 1, `${largest}`)
})

test('the bands of a segment do not depend on its loudness', () => {
  const random = createRandom(1)
  const quiet = Float32Array.from({ length: 16_000 }, () => 0.05 * (random() - 0.5))
  const loud = quiet.map((sample) => sample * 8)
  const [a, b] = [quiet, loud].map((audio) => candidateInputs(spectrumOf(audio), 0.5))
  for (const [i, value] of a!.entries()) assert.ok(Math.abs(value - b![i]!) < 0.05)
})

test('outside of a segment the inputs are 0', () => {
  const audio = new Float32Array(16_000).fill(0.1)
  assert.ok(candidateInputs(spectrumOf(audio), 9).every((value) => value === 0))
})

test('spectrum, sounds and distance decide which candidate is likeliest', () => {
  const network: BoundaryNetwork = {
    spectrum: new Float32Array(INPUTS).fill(1, after, after + 1),
    sounds: new Float32Array(SOUNDS),
    bias: new Float32Array(1),
    output: new Float32Array([9]),
    offsets: new Float32Array(CANDIDATES),
    soundOffsets: new Float32Array(SOUNDS * CANDIDATES),
  }
  const inputs = new Float32Array(CANDIDATES * INPUTS)
  inputs[20 * INPUTS + after] = 2
  const likeliest = (sounds: number[]) => {
    const { probabilities } = scoreCandidates(network, inputs, sounds)
    assert.ok(Math.abs(probabilities.reduce((a, b) => a + b) - 1) < 1e-5)
    return probabilities.indexOf(Math.max(...probabilities))
  }
  assert.equal(likeliest([]), 20)
  network.soundOffsets[3 * CANDIDATES + 7] = 20
  assert.equal(likeliest([]), 20)
  assert.equal(likeliest([3]), 7)
  network.offsets[9] = 40
  assert.equal(likeliest([3]), 9)
})

test('the median of the probabilities lies between candidates', () => {
  const likely = (...candidates: [number, number][]) => {
    const probabilities = new Float32Array(CANDIDATES)
    for (const [candidate, probability] of candidates) probabilities[candidate] = probability
    return Number(medianOffset(probabilities).toFixed(4))
  }
  assert.equal(likely([middle, 1]), 0)
  assert.equal(likely([middle + 3, 1]), offsetOf(middle + 3))
  assert.equal(likely([middle, 0.5], [middle + 1, 0.5]), 0.005)
  assert.equal(likely([0, 0.4], [middle, 0.6]), -0.0033)
})
