import {
  type Balance,
  CROSSTALK_BLOCK,
  CROSSTALK_FRAMES,
  type CrosstalkGate,
  type CrosstalkMeasurement,
  type CrosstalkMeter,
  type CrosstalkPath,
  createCrosstalkGate,
  createCrosstalkMeter,
  createMeasurement,
  type FrameBands,
  findCrosstalk,
  frameBands,
  framesToSilence,
} from '../../../audio/channels/crosstalk/crosstalk.ts'
import { CrosstalkCanceller } from '../../../audio/channels/crosstalk/crosstalk-canceller.ts'
import {
  BALANCE_BLOCKS,
  createRecentBalance,
  type RecentBalance,
} from '../../../audio/channels/pairs/recent-balance.ts'
import { SPECTRUM_HOP, SPECTRUM_SAMPLES, type Spectrum } from '../../../audio/channels/spectra.ts'
import type { PlanarSamples } from '../../../audio/pcm.ts'
import { sum } from '../../../numbers.ts'
import { VAD_FRAME } from '../../segmentation/vad-frames.ts'

/** Frames between two spectra, and between two searches for crosstalk paths (0.25 s). */
const HOP_FRAMES = SPECTRUM_HOP / VAD_FRAME
const SEARCH_FRAMES = 8
/** When crosstalk is found, up to some seconds late, so many frames are cleaned again (2 s). */
const CLEANED_AGAIN = 62
/** Those frames, and the ones that may leak into the first of them. */
const HISTORY = CLEANED_AGAIN + CROSSTALK_FRAMES
/**
 * A canceller works for this many frames (41 s), after it has learned from as many. So what it
 * subtracts depends on audio and position alone.
 */
const CANCELLER_FRAMES = 8 * CROSSTALK_BLOCK

/** A frame of all channels without crosstalk. */
export type CleanFrame = {
  planes: PlanarSamples
  /** Which channels held only crosstalk. */
  isCrosstalk: readonly boolean[]
  /** Samples that replace earlier ones of each channel, because crosstalk was found in them. */
  correction?: { frame: number; planes: PlanarSamples }
}

/**
 * Returns the frame from which the removal must receive every frame so that its output from
 * `frame` on depends on audio and position alone. It looks back over the current block and the one
 * before, and for the gains over the blocks before those; the first block begins in the middle of a
 * spectrum. The canceller that works at `frame` also learns from what comes after the start.
 */
export function crosstalkStart(frame: number): number {
  const block = Math.floor(frame / CROSSTALK_BLOCK) - BALANCE_BLOCKS - 3
  const canceller = Math.floor(frame / CANCELLER_FRAMES) - 1
  return Math.max(0, Math.min(block * CROSSTALK_BLOCK, canceller * CANCELLER_FRAMES))
}

/** The removal of crosstalk between the channels of a session, frame by frame. */
export class LiveCrosstalk {
  readonly #channels: number
  readonly #recentBalance: RecentBalance
  readonly #balance: Balance
  readonly #measureCrosstalk: CrosstalkMeter
  readonly #isCrosstalk: CrosstalkGate
  /** The samples of the latest spectrum, and the spectra of the current block. */
  readonly #recent: PlanarSamples
  #spectra: (readonly Spectrum[])[] = []
  /** The measurements of the current block, and of the one before. */
  #blocks: CrosstalkMeasurement[] = [createMeasurement()]
  #paths: CrosstalkPath[] = []
  #latest: PlanarSamples | undefined
  /** The energies of the last `HISTORY` frames. */
  readonly #before: FrameBands[][] = []
  /** The canceller that works, if the audio before it is known, and the one that learns. */
  #canceller: CrosstalkCanceller | undefined
  #nextCanceller: CrosstalkCanceller | undefined

  constructor(channels: number) {
    this.#channels = channels
    this.#recentBalance = createRecentBalance(channels)
    this.#balance = this.#recentBalance.balance
    this.#measureCrosstalk = createCrosstalkMeter({ findsEarlier: false, balance: this.#balance })
    this.#isCrosstalk = createCrosstalkGate(channels, { ahead: 1, balance: this.#balance })
    this.#recent = Array.from({ length: channels }, () => new Float32Array(SPECTRUM_SAMPLES))
  }

  /**
   * Takes the next frame of all channels, and returns the one before it without crosstalk;
   * undefined for the first frame.
   */
  next(frame: number, samples: PlanarSamples): CleanFrame | undefined {
    this.#measure(frame, samples)
    const isNewPath = frame % SEARCH_FRAMES === 0 && this.#findPaths()
    const bands = samples.map(frameBands)
    const cleaned = this.#clean(frame, { samples, isNewPath })
    const planes = cleaned.at(-1) ?? this.#latest
    const pathsLeft = this.#paths.map((path) => this.#canceller?.pathLeft(path) ?? path)
    const isCrosstalk = this.#isCrosstalk(bands, pathsLeft, planes?.map(frameBands))
    const correction = isNewPath && cleaned.length > 0 && this.#correction(frame, cleaned)
    this.#latest = samples
    this.#before.push(bands)
    if (this.#before.length > HISTORY) this.#before.shift()
    return planes && { planes, isCrosstalk, ...(correction && { correction }) }
  }

  /** Returns the frames before this one that the canceller cleans with it, the latest one last. */
  #clean(
    frame: number,
    { samples, isNewPath }: { samples: PlanarSamples; isNewPath: boolean },
  ): PlanarSamples[] {
    const isReplaced = frame % CANCELLER_FRAMES === 0 && this.#replaceCanceller(frame)
    this.#nextCanceller?.add(samples)
    this.#nextCanceller?.learn(this.#paths)
    const canceller = this.#canceller
    if (!canceller) return []
    canceller.add(samples)
    if (frame === 0) return []
    const planes = isReplaced ? undefined : canceller.clean()
    canceller.learn(this.#paths)
    if (planes && !isNewPath) return [planes]
    return canceller.cleanAgain(CLEANED_AGAIN)
  }

  #measure(frame: number, samples: PlanarSamples): void {
    if (frame % CROSSTALK_BLOCK === 0) {
      this.#blocks = [createMeasurement(), this.#blocks[0]!]
      if (this.#spectra.length > 0) this.#recentBalance.add(this.#spectra)
      this.#spectra = []
    }
    for (const [channel, latest] of this.#recent.entries()) {
      latest.copyWithin(0, VAD_FRAME)
      latest.set(samples[channel]!, SPECTRUM_SAMPLES - VAD_FRAME)
    }
    if (frame % HOP_FRAMES !== 0) return
    this.#spectra.push(this.#measureCrosstalk(this.#blocks[0]!, this.#recent))
  }

  /** Finds the crosstalk paths; returns whether one of them was not known before. */
  #findPaths(): boolean {
    const earlierPaths = this.#paths
    this.#paths = findCrosstalk(this.#blocks)
    return this.#paths.some((path) => !earlierPaths.some((it) => isSamePair(it, path)))
  }

  /** Lets the next canceller work, and another one learn; returns whether there was a next one. */
  #replaceCanceller(frame: number): boolean {
    const isReplaced = this.#nextCanceller !== undefined
    const created = new CrosstalkCanceller(this.#channels, {
      balance: this.#balance,
      history: HISTORY,
    })
    this.#canceller = this.#nextCanceller ?? this.#canceller
    // The first one of a session works at once.
    if (frame === 0) this.#canceller = created
    else this.#nextCanceller = created
    return isReplaced
  }

  /**
   * Returns the frames before `frame` without crosstalk. Those that held only crosstalk are silent:
   * unlike later ones, they may have counted as speech.
   */
  #correction(frame: number, cleaned: readonly PlanarSamples[]): CleanFrame['correction'] {
    const isCrosstalk = createCrosstalkGate(this.#channels, { balance: this.#balance })
    const flags = this.#before.map((bands) => isCrosstalk(bands, this.#paths))
    const planes = Array.from({ length: this.#channels }, (_, channel) => {
      const energies = this.#before.map((bands) => sum(bands[channel]!))
      const channelFlags = flags.map((frameFlags) => frameFlags[channel]!)
      const isSilenced = framesToSilence(energies, channelFlags).slice(-cleaned.length)
      const samples = new Float32Array(cleaned.length * VAD_FRAME)
      for (const [n, framePlanes] of cleaned.entries()) {
        if (!isSilenced[n]) samples.set(framePlanes[channel]!, n * VAD_FRAME)
      }
      return samples
    })
    return { frame: frame - cleaned.length, planes }
  }
}

function isSamePair(a: CrosstalkPath, b: CrosstalkPath): boolean {
  return a.source === b.source && a.target === b.target
}
