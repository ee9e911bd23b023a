import { mean } from '../../numbers.ts'
import { VAD_FRAME } from './vad-frames.ts'

/** The length of the span in which loud and quiet moments are compared, in frames: 10 s. */
const NOISE_WINDOW_FRAMES = 312
/** The number of frames before and after a frame on which its noise depends. */
export const NOISE_REACH = NOISE_WINDOW_FRAMES / 2
/** The quantiles of the frame levels that count as a quiet moment and as a loud one. */
const QUIET_QUANTILE = 0.1
const LOUD_QUANTILE = 0.9
/**
 * The range between loud and quiet moments, in decibels, below which a span is noisy. Read speech,
 * calls and prompts have 25 to 60; with noise 10 dB below the voice 12 to 20, with louder noise 5
 * to 15.
 */
const NOISY_RANGE = 20
/** Added to the energy, so that the logarithm of digital silence is finite. */
const MIN_ENERGY = 1e-9

/**
 * Returns 1 for each frame in a span of audio without quiet moments, else 0: such a span has noise
 * about as loud as any voice. A span that is much quieter than the recording is a pause with the
 * noise of the room, so its frames get 0.
 */
export function findNoise(audio: Float32Array): Uint8Array {
  const levels = levelsOf(audio)
  const noisy = new Uint8Array(levels.length)
  const loudLevel = levels.toSorted()[Math.floor((levels.length - 1) * LOUD_QUANTILE)] ?? 0
  const minLoudLevel = loudLevel - NOISY_RANGE
  const window = new SortedWindow(2 * NOISE_REACH + 1)
  for (const level of levels.subarray(0, NOISE_REACH)) window.add(level)
  for (let frame = 0; frame < levels.length; frame++) {
    const [first, next] = [frame - NOISE_REACH - 1, frame + NOISE_REACH]
    if (first >= 0) window.remove(levels[first]!)
    if (next < levels.length) window.add(levels[next]!)
    const [quiet, loud] = [window.quantile(QUIET_QUANTILE), window.quantile(LOUD_QUANTILE)]
    if (loud > minLoudLevel && loud - quiet < NOISY_RANGE) noisy[frame] = 1
  }
  return noisy
}

/** Whether more than half of a segment is such a span. */
export function isMostlyNoisy(audio: Float32Array): boolean {
  return mean(findNoise(audio)) > 0.5
}

/** A sorted list of a few hundred numbers, which are added and removed one at a time. */
class SortedWindow {
  readonly #sorted: Float32Array
  #length = 0

  /** Holds up to `size` numbers. */
  constructor(size: number) {
    this.#sorted = new Float32Array(size)
  }

  add(value: number): void {
    const place = this.#placeOf(value)
    this.#sorted.copyWithin(place + 1, place, this.#length++)
    this.#sorted[place] = value
  }

  /** Removes a number that was added. */
  remove(value: number): void {
    const place = this.#placeOf(value)
    this.#sorted.copyWithin(place, place + 1, this.#length--)
  }

  /** Returns the number below which `share` of the others lie. */
  quantile(share: number): number {
    return this.#sorted[Math.floor((this.#length - 1) * share)]!
  }

  /** Returns the place of the first number that is not below `value`. */
  #placeOf(value: number): number {
    let [low, high] = [0, this.#length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]! < value) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Returns the level of each frame, in decibels. */
function levelsOf(audio: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.ceil(audio.length / VAD_FRAME) }, (_, frame) => {
    const samples = audio.subarray(frame * VAD_FRAME, (frame + 1) * VAD_FRAME)
    let energy = 0
    for (const sample of samples) energy += sample * sample
    return 10 * Math.log10(energy / samples.length + MIN_ENERGY)
  })
}
