import {
  type Balance,
  CROSSTALK_BLOCK,
  CROSSTALK_FRAMES,
  type CrosstalkMeasurement,
  type CrosstalkPath,
  createCrosstalkGate,
  createCrosstalkMeter,
  createMeasurement,
  type FrameBands,
  findCrosstalk,
  frameBands,
  framesToSilence,
} from '../../../audio/channels/crosstalk/crosstalk.ts'
import {
  BALANCE_BLOCKS,
  createRecentBalance,
} from '../../../audio/channels/pairs/recent-balance.ts'
import { SPECTRUM_HOP, SPECTRUM_SAMPLES, type Spectrum } from '../../../audio/channels/spectra.ts'
import type { PlanarSamples } from '../../../audio/pcm.ts'
import { sum } from '../../../numbers.ts'
import { VAD_FRAME } from '../../segmentation/vad-frames.ts'

/** Frames between two spectra, and between two searches for crosstalk paths (0.25 s). */
const HOP_FRAMES = SPECTRUM_HOP / VAD_FRAME
const SEARCH_FRAMES = 8

/**
 * Crosstalk is detected up to a second after it begins and may count as speech until then. So this
 * many frames (2 s, and those that may leak into the first of them) are examined again.
 */
const LOOK_BACK = 62 + CROSSTALK_FRAMES

/** The channels that hold only crosstalk from another channel. */
export type CrosstalkFrames = {
  now: boolean[]
  /**
   * Earlier frames that held only crosstalk, of channels whose crosstalk path was found with this
   * frame.
   */
  earlier: { channel: number; frame: number }[]
}

/** Returns the crosstalk of a frame of all channels; called with every frame, in order. */
export type LiveCrosstalk = (frame: number, samples: PlanarSamples) => CrosstalkFrames

/**
 * Returns the frame from which the detection must receive every frame so that its output from
 * `frame` on depends on audio and position alone. It looks back over the current block and the one
 * before, and for the gains over the blocks before those; the first block begins in the middle of a
 * spectrum.
 */
export function crosstalkStart(frame: number): number {
  const block = Math.floor(frame / CROSSTALK_BLOCK) - BALANCE_BLOCKS - 3
  return Math.max(0, block * CROSSTALK_BLOCK)
}

/** Creates the crosstalk detection of a session. */
export function createLiveCrosstalk(channels: number): LiveCrosstalk {
  if (channels === 1) return () => ({ now: [false], earlier: [] })
  const recentBalance = createRecentBalance(channels)
  const { balance } = recentBalance
  const isCrosstalk = createCrosstalkGate(channels, { balance })
  const measureCrosstalk = createCrosstalkMeter({ findsEarlier: false, balance })
  let spectra: (readonly Spectrum[])[] = []
  const recent: PlanarSamples = Array.from(
    { length: channels },
    () => new Float32Array(SPECTRUM_SAMPLES),
  )
  const before: FrameBands[][] = []
  let blocks: CrosstalkMeasurement[] = [createMeasurement()]
  let paths = findCrosstalk(blocks)
  return (frame, samples) => {
    if (frame % CROSSTALK_BLOCK === 0) {
      blocks = [createMeasurement(), blocks[0]!]
      if (spectra.length > 0) recentBalance.add(spectra)
      spectra = []
    }
    for (const [channel, latest] of recent.entries()) {
      latest.copyWithin(0, VAD_FRAME)
      latest.set(samples[channel]!, SPECTRUM_SAMPLES - VAD_FRAME)
    }
    if (frame % HOP_FRAMES === 0) spectra.push(measureCrosstalk(blocks[0]!, recent))
    const earlier: CrosstalkFrames['earlier'] = []
    if (frame % SEARCH_FRAMES === 0) {
      const earlierPaths = paths
      paths = findCrosstalk(blocks)
      const newPaths = paths.filter(
        (path) => !earlierPaths.some((earlierPath) => isSamePair(earlierPath, path)),
      )
      for (const channel of new Set(newPaths.map(({ target }) => target))) {
        const newFrames = findEarlier(before, { channel, paths, balance })
        earlier.push(...newFrames.map((n) => ({ channel, frame: frame - before.length + n })))
      }
    }
    const bands = samples.map(frameBands)
    before.push(bands)
    if (before.length > LOOK_BACK) before.shift()
    return { now: isCrosstalk(bands, paths), earlier }
  }
}

function isSamePair(a: CrosstalkPath, b: CrosstalkPath): boolean {
  return a.source === b.source && a.target === b.target
}

/** Returns the frames of a channel to silence now that its crosstalk paths are known. */
function findEarlier(
  frames: readonly FrameBands[][],
  {
    channel,
    paths,
    balance,
  }: { channel: number; paths: readonly CrosstalkPath[]; balance: Balance },
): number[] {
  const isCrosstalk = createCrosstalkGate(frames[0]?.length ?? 0, { balance })
  const energies = frames.map((bands) => sum(bands[channel]!))
  const flags = frames.map((bands) => isCrosstalk(bands, paths)[channel]!)
  return framesToSilence(energies, flags).flatMap((isSilenced, n) => (isSilenced ? [n] : []))
}
