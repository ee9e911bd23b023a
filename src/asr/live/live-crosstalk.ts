import {
  createLeakGate,
  createLeakMeter,
  createMeasurement,
  findLeaks,
  LEAK_BLOCK,
  type LeakMeasurement,
} from '../../audio/channels/crosstalk.ts'
import { SPECTRUM_HOP, SPECTRUM_SAMPLES } from '../../audio/channels/spectra.ts'
import type { Planes } from '../../audio/pcm.ts'
import { FRAME_SAMPLES } from '../live-engine.ts'

/** Frames between two spectra, and between two looks at what leaks (0.25 s). */
const HOP_FRAMES = SPECTRUM_HOP / FRAME_SAMPLES
const LOOK_FRAMES = 8

/** Takes the frames of all channels in order; returns which hold only what leaks from another. */
export type LiveCrosstalk = (frame: number, samples: Planes) => boolean[]

/**
 * Creates the crosstalk detection of a session. It looks back over the current block and the one
 * before, at most 10.5 s: its output depends on audio and position alone once it has taken
 * `LEVEL_FRAMES` frames.
 */
export function createLiveCrosstalk(channels: number): LiveCrosstalk {
  if (channels === 1) return () => [false]
  const isLeaked = createLeakGate(channels)
  const measureLeaks = createLeakMeter({ findsEarlier: false })
  const recent: Planes = Array.from({ length: channels }, () => new Float32Array(SPECTRUM_SAMPLES))
  let blocks: LeakMeasurement[] = [createMeasurement()]
  let leaks = findLeaks(blocks)
  return (frame, samples) => {
    if (frame % LEAK_BLOCK === 0) blocks = [createMeasurement(), blocks[0]!]
    for (const [channel, own] of recent.entries()) {
      own.copyWithin(0, FRAME_SAMPLES)
      own.set(samples[channel]!, SPECTRUM_SAMPLES - FRAME_SAMPLES)
    }
    if (frame % HOP_FRAMES === 0) measureLeaks(blocks[0]!, recent)
    if (frame % LOOK_FRAMES === 0) leaks = findLeaks(blocks)
    return isLeaked(samples, leaks)
  }
}
