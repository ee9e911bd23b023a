import {
  createLeakGate,
  createLeakMeter,
  createMeasurement,
  type FrameBands,
  findLeaks,
  frameBands,
  LEAK_BLOCK,
  type Leak,
  type LeakMeasurement,
} from '../../audio/channels/crosstalk.ts'
import { SPECTRUM_HOP, SPECTRUM_SAMPLES } from '../../audio/channels/spectra.ts'
import type { Planes } from '../../audio/pcm.ts'
import { VAD_FRAME } from '../segmentation/vad-frames.ts'

/** Frames between two spectra, and between two looks at what leaks (0.25 s). */
const HOP_FRAMES = SPECTRUM_HOP / VAD_FRAME
const LOOK_FRAMES = 8

/**
 * A leak is found up to a second after it begins, and may have been taken for speech until then: so
 * many frames (2 s) are looked at again.
 */
const LOOK_BACK = 62
/** Frames on either side (0.2 s) whose energy decides whether a frame is silenced. */
const NEARBY_FRAMES = 6

/** Which channels hold only what leaks from another. */
export type LeakFrames = {
  now: boolean[]
  /** Earlier frames that held nothing else, of channels into which a leak was found only now. */
  earlier: { channel: number; frame: number }[]
}

/** Takes the frames of all channels in order. */
export type LiveCrosstalk = (frame: number, samples: Planes) => LeakFrames

/**
 * Creates the crosstalk detection of a session. It looks back over the current block and the one
 * before, at most 10.5 s: its output depends on audio and position alone once it has taken
 * `LEVEL_FRAMES` frames.
 */
export function createLiveCrosstalk(channels: number): LiveCrosstalk {
  if (channels === 1) return () => ({ now: [false], earlier: [] })
  const isLeaked = createLeakGate(channels)
  const measureLeaks = createLeakMeter({ findsEarlier: false })
  const recent: Planes = Array.from({ length: channels }, () => new Float32Array(SPECTRUM_SAMPLES))
  const before: FrameBands[][] = []
  let blocks: LeakMeasurement[] = [createMeasurement()]
  let leaks = findLeaks(blocks)
  return (frame, samples) => {
    if (frame % LEAK_BLOCK === 0) blocks = [createMeasurement(), blocks[0]!]
    for (const [channel, latest] of recent.entries()) {
      latest.copyWithin(0, VAD_FRAME)
      latest.set(samples[channel]!, SPECTRUM_SAMPLES - VAD_FRAME)
    }
    if (frame % HOP_FRAMES === 0) measureLeaks(blocks[0]!, recent)
    const earlier: LeakFrames['earlier'] = []
    if (frame % LOOK_FRAMES === 0) {
      const known = leaks
      leaks = findLeaks(blocks)
      const targets = leaks.filter((leak) => !known.some((one) => isSamePair(one, leak)))
      for (const channel of new Set(targets.map(({ target }) => target))) {
        const found = findEarlier(before, { channel, leaks })
        earlier.push(...found.map((n) => ({ channel, frame: frame - before.length + n })))
      }
    }
    const bands = samples.map(frameBands)
    before.push(bands)
    if (before.length > LOOK_BACK) before.shift()
    return { now: isLeaked(bands, leaks), earlier }
  }
}

function isSamePair(a: Leak, b: Leak): boolean {
  return a.source === b.source && a.target === b.target
}

/**
 * Returns the frames in which a channel held only a leak, unless its own speech is the louder part
 * around: cutting words does more harm than a leak.
 */
function findEarlier(
  frames: readonly FrameBands[][],
  { channel, leaks }: { channel: number; leaks: readonly Leak[] },
): number[] {
  const isLeaked = createLeakGate(frames[0]?.length ?? 0)
  // Positive where a frame is a leak.
  const signed = frames.map((bands) => {
    const energy = bands[channel]!.reduce((sum, bandEnergy) => sum + bandEnergy, 0)
    return isLeaked(bands, leaks)[channel] ? energy : -energy
  })
  return signed.flatMap((energy, n) => {
    const near = signed.slice(Math.max(0, n - NEARBY_FRAMES), n + NEARBY_FRAMES + 1)
    return energy > 0 && near.reduce((sum, one) => sum + one, 0) > 0 ? [n] : []
  })
}
