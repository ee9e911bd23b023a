import {
  type BoundaryNetwork,
  CANDIDATES,
  INPUTS,
  SOUNDS,
  scoreCandidates,
} from '../../../src/asr/recognition/word-times/boundary-network.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import { shuffle } from '../../support/shuffle.ts'
import type { Example } from './boundary-examples.ts'

const HIDDEN = 24
const EPOCHS = 6
const BATCH = 64
/** The length of the first steps; it falls to 0. */
const STEP = 0.002
/** How much the weights of layers, but not the offsets, are pulled towards 0. */
const DECAY = 0.001
const decaying = new Set<Matrix>(['spectrum', 'sounds', 'output'])

type Matrix = keyof BoundaryNetwork
type Moments = { mean: Float32Array; square: Float32Array }

/**
 * Trains a network on examples: cross entropy with the target of each candidate, Adam (Kingma and
 * Ba 2015). The same examples give the same network.
 */
export function trainBoundaryNetwork(examples: readonly Example[]): BoundaryNetwork {
  const random = createRandom(1)
  const network = startNetwork(random)
  const moments = Object.fromEntries(
    Object.entries(network).map(([name, { length }]) => {
      return [name, { mean: new Float32Array(length), square: new Float32Array(length) }]
    }),
  ) as Record<Matrix, Moments>
  let steps = 0
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const order = [...examples]
    shuffle(order, random)
    for (let at = 0; at < order.length; at += BATCH) {
      const gradient = gradientOf(network, order.slice(at, at + BATCH))
      steps++
      const step = STEP * (1 - epoch / EPOCHS)
      for (const name of Object.keys(network) as Matrix[]) {
        if (decaying.has(name)) addTo(gradient[name], network[name], DECAY)
        descend(network[name], gradient[name], moments[name], { step, steps })
      }
    }
  }
  return network
}

function startNetwork(random: () => number): BoundaryNetwork {
  const weights = (length: number, deviation: number) =>
    Float32Array.from({ length }, () => deviation * normal(random))
  return {
    spectrum: weights(INPUTS * HIDDEN, INPUTS ** -0.5),
    sounds: weights(SOUNDS * HIDDEN, 0.3),
    bias: new Float32Array(HIDDEN),
    output: weights(HIDDEN, HIDDEN ** -0.5),
    offsets: new Float32Array(CANDIDATES),
    soundOffsets: new Float32Array(SOUNDS * CANDIDATES),
  }
}

/** Returns the mean gradient of the cross entropy of examples. */
function gradientOf(network: BoundaryNetwork, examples: readonly Example[]): BoundaryNetwork {
  const gradient = Object.fromEntries(
    Object.entries(network).map(([name, { length }]) => [name, new Float32Array(length)]),
  ) as BoundaryNetwork
  for (const example of examples) addGradient(gradient, network, example, 1 / examples.length)
  return gradient
}

function addGradient(
  gradient: BoundaryNetwork,
  network: BoundaryNetwork,
  { inputs, sounds, target }: Example,
  share: number,
): void {
  const { hidden, probabilities } = scoreCandidates(network, inputs, sounds)
  const below = new Float32Array(HIDDEN)
  for (let candidate = 0; candidate < CANDIDATES; candidate++) {
    const error = (probabilities[candidate]! - target[candidate]!) * share
    gradient.offsets[candidate]! += error
    for (const sound of sounds) gradient.soundOffsets[sound * CANDIDATES + candidate]! += error
    for (let i = 0; i < HIDDEN; i++) {
      const value = hidden[candidate * HIDDEN + i]!
      gradient.output[i]! += error * value
      below[i] = error * network.output[i]! * (1 - value * value)
    }
    addTo(gradient.bias, below)
    for (const sound of sounds) {
      addTo(gradient.sounds.subarray(sound * HIDDEN, (sound + 1) * HIDDEN), below)
    }
    for (let input = 0; input < INPUTS; input++) {
      const value = inputs[candidate * INPUTS + input]!
      const row = input * HIDDEN
      for (let i = 0; i < HIDDEN; i++) gradient.spectrum[row + i]! += value * below[i]!
    }
  }
}

function descend(
  weights: Float32Array,
  gradient: Float32Array,
  { mean, square }: Moments,
  { step, steps }: { step: number; steps: number },
): void {
  const [meanShare, squareShare] = [1 - 0.9 ** steps, 1 - 0.999 ** steps]
  for (let i = 0; i < weights.length; i++) {
    mean[i] = 0.9 * mean[i]! + 0.1 * gradient[i]!
    square[i] = 0.999 * square[i]! + 0.001 * gradient[i]! ** 2
    weights[i]! -= (step * (mean[i]! / meanShare)) / (Math.sqrt(square[i]! / squareShare) + 1e-8)
  }
}

function addTo(target: Float32Array, values: Float32Array, factor = 1): void {
  for (let i = 0; i < target.length; i++) target[i]! += factor * values[i]!
}

/** Returns a number of the standard normal distribution (Box and Muller 1958). */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
