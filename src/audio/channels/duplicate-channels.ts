import type { PlanarSamples } from '../pcm.ts'

/** Finds channels with the same audio during decoding. */
export type ChannelComparison = {
  write(planes: PlanarSamples): void
  /**
   * Returns for each channel the lowest channel with the same audio; null if no lower channel has
   * it.
   */
  result(): (number | null)[]
}

/**
 * The maximum energy of the difference of two equal channels, -40 dB: a lossy codec gives the two
 * sides of one mono signal different rounding errors.
 */
const EQUAL_CHANNELS_RATIO = 1e-4

/** Compares every pair of `channels` channels over the whole recording. */
export function createChannelComparison(channels: number): ChannelComparison {
  const energies = new Float64Array(channels)
  const differences = new Float64Array(channels * channels)

  function write(planes: PlanarSamples): void {
    for (let a = 0; a < channels; a++) {
      energies[a]! += energy(planes[a]!)
      for (let b = 0; b < a; b++) {
        differences[a * channels + b]! += differenceEnergy(planes[a]!, planes[b]!)
      }
    }
  }

  function areSame(a: number, b: number): boolean {
    return (
      differences[a * channels + b]! <= EQUAL_CHANNELS_RATIO * Math.min(energies[a]!, energies[b]!)
    )
  }

  function result(): (number | null)[] {
    return Array.from({ length: channels }, (_, a) => {
      for (let b = 0; b < a; b++) if (areSame(a, b)) return b
      return null
    })
  }

  return { write, result }
}

function energy(samples: Float32Array): number {
  let sum = 0
  for (let i = 0; i < samples.length; i++) sum += samples[i]! ** 2
  return sum
}

function differenceEnergy(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i]! - b[i]!) ** 2
  return sum
}
