import type { PlanarSamples } from '../../pcm.ts'
import { SPECTRUM_SAMPLES } from '../spectra.ts'
import {
  type Balance,
  CROSSTALK_BLOCK,
  CROSSTALK_FRAMES,
  type CrosstalkMeasurement,
  type CrosstalkPath,
  createCrosstalkGate,
  createCrosstalkMeter,
  createMeasurement,
  FRAME_SAMPLES,
  type FrameBands,
  findCrosstalk,
  frameBands,
  framesToSilence,
  SPECTRUM_STARTS,
} from './crosstalk.ts'
import { CrosstalkCanceller } from './crosstalk-canceller.ts'

/** A block without crosstalk, and the paths of what was removed from it. */
export type CleanBlock = { planes: PlanarSamples; paths: CrosstalkPath[] }

/**
 * Creates a removal of crosstalk from the channels of a recording, in blocks of `CROSSTALK_BLOCK`
 * frames. What the canceller leaves of it is silenced where the channel has no speech of its own.
 */
export function createCrosstalkRemoval(channels: number, balance: Balance) {
  const isCrosstalk = createCrosstalkGate(channels, { ahead: CROSSTALK_FRAMES, balance })
  const canceller = new CrosstalkCanceller(channels, { balance, history: 3 * CROSSTALK_BLOCK })
  /** Of the block before the current one, the current one, and the next one. */
  const measured: CrosstalkMeasurement[] = []
  let current: PlanarSamples = []
  let next: PlanarSamples = []

  /** Takes the block after the next one; the next block becomes the current one. */
  function add(planes: PlanarSamples): void {
    current = next
    next = planes
    canceller.add(planes)
    measured.push(measureBlock(planes, balance))
    if (measured.length > 3) measured.shift()
    // The gate has a delay of `CROSSTALK_FRAMES`, so it needs the first frames of the next block.
    if (current.length > 0) return
    for (let n = 0; n < CROSSTALK_FRAMES; n++) isCrosstalk(framesOf(planes, n), [])
  }

  /** Returns the current block without crosstalk; called once for each block. */
  function remove(): CleanBlock {
    const paths = findCrosstalk(measured)
    canceller.learn(paths)
    const planes = current.map((plane) => new Float32Array(plane.length))
    for (let n = 0; n < CROSSTALK_BLOCK; n++) {
      for (const [channel, frame] of canceller.clean().entries()) {
        planes[channel]!.set(frame, n * FRAME_SAMPLES)
      }
    }
    const pathsLeft = paths.map((path) => canceller.pathLeft(path))
    const flags = Array.from({ length: CROSSTALK_BLOCK }, (_, n) => {
      const at = n + CROSSTALK_FRAMES
      const ahead =
        at < CROSSTALK_BLOCK ? framesOf(current, at) : framesOf(next, at - CROSSTALK_BLOCK)
      return isCrosstalk(ahead, pathsLeft, framesOf(planes, n))
    })
    silenceCrosstalk(planes, flags)
    return { planes, paths }
  }

  return { add, remove }
}

function measureBlock(planes: PlanarSamples, balance: Balance): CrosstalkMeasurement {
  const measurement = createMeasurement()
  const measureCrosstalk = createCrosstalkMeter({ findsEarlier: true, balance })
  for (const at of SPECTRUM_STARTS) {
    measureCrosstalk(
      measurement,
      planes.map((plane) => plane.subarray(at, at + SPECTRUM_SAMPLES)),
    )
  }
  return measurement
}

/** Silences frames that hold only crosstalk. */
function silenceCrosstalk(planes: PlanarSamples, crosstalkFlags: readonly boolean[][]): void {
  for (const [channel, plane] of planes.entries()) {
    const energies = crosstalkFlags.map((_, n) => {
      return frameOf(plane, n).reduce((sum, sample) => sum + sample * sample, 0)
    })
    const isCrosstalk = crosstalkFlags.map((flags) => flags[channel]!)
    for (const [n, isSilenced] of framesToSilence(energies, isCrosstalk).entries()) {
      if (isSilenced) frameOf(plane, n).fill(0)
    }
  }
}

function framesOf(planes: PlanarSamples, n: number): FrameBands[] {
  return planes.map((plane) => frameBands(frameOf(plane, n)))
}

function frameOf(plane: Float32Array<ArrayBuffer>, n: number): Float32Array<ArrayBuffer> {
  return plane.subarray(n * FRAME_SAMPLES, (n + 1) * FRAME_SAMPLES)
}
