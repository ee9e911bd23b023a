import { createRandom } from '../random/random.ts'

/** Noise with the rhythm of speech: syllables, and pauses after some of them. */
export function voice(seed: number, samples: number): Float32Array<ArrayBuffer> {
  const random = createRandom(seed)
  return Float32Array.from({ length: samples }, (_, i) => {
    const isPause = Math.sin(i / (17_000 + 3000 * seed)) < -0.3
    const loudness = Math.abs(Math.sin(i / (1500 + 400 * seed))) ** 2
    return isPause ? 0 : 0.3 * (random() * 2 - 1) * loudness
  })
}

/** What leaks of a voice through a room: it comes later and from two sides. */
export function leakOf(source: Float32Array, gain: number, delay = 0): Float32Array<ArrayBuffer> {
  return Float32Array.from(source, (_, i) => {
    const direct = source[i - delay - 40] ?? 0
    const reflected = source[i - delay - 230] ?? 0
    return gain * (direct + 0.5 * reflected)
  })
}

/** Adds two sounds. */
export function sumOf(a: Float32Array, b: Float32Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(a, (sample, i) => sample + b[i]!)
}

/**
 * Returns by how many decibels the energy of a voice exceeds that of the difference to it, from
 * sample `from` to sample `to`.
 */
export function clarity(
  heard: Float32Array,
  own: Float32Array,
  { from = 0, to = own.length } = {},
): number {
  let [error, energy] = [0, 0]
  for (let i = from; i < to; i++) {
    error += (heard[i]! - own[i]!) ** 2
    energy += own[i]! ** 2
  }
  return 10 * Math.log10(energy / error)
}
