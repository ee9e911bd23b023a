import type { PlanarSamples } from '../pcm.ts'
import type { ChannelFacts, PairInWindow, Window } from './channel-facts.ts'
import {
  type ChannelGroup,
  type ChannelMode,
  chooseSources,
  singleSource,
} from './choose-sources.ts'
import { findGroups } from './find-groups.ts'
import { addLoudness } from './pairs/compare-loudness.ts'
import { createLevelHistogram, SAME_LEVEL } from './pairs/level-histogram.ts'
import { createOwnSpeech } from './pairs/own-speech.ts'
import {
  comparePair,
  framesAt,
  isSilent,
  isSpeechAt,
  MIN_COHERENCE,
  pairIndex,
  pairsOf,
  type SpectralFrame,
} from './pairs/pair-comparison.ts'
import {
  addPairSpectra,
  coherenceOf,
  createPairSpectra,
  energiesOf,
  type PairSpectra,
  SPECTRUM_HOP,
  SPECTRUM_SAMPLES,
  type Spectrum,
  speechSpectra,
} from './spectra.ts'

/** Samples of one window of the analysis: four seconds, which is one or two sentences. */
export const WINDOW_SAMPLES = 64_000

/** The minimum number of spectra with speech in a window (0.8 s). */
const MIN_SPEECH = 12
/** A channel with more than this factor of the energy of two others may leak into both. */
const LEAK_RATIO = 10 ** (SAME_LEVEL / 10)

/**
 * Groups the channels of a recording that carry the same speech, with other levels, delays up to
 * a second and reverberation. It compares the channels in windows, where someone speaks, by the
 * magnitude-squared coherence of the speech band (Carter, Knapp, Nuttall 1973) and by the levels of
 * single voices; it decides for the whole recording. `write` takes `WINDOW_SAMPLES` of each channel
 * and the probability of speech per frame. The spectra of one window are in memory. `center` is the
 * channel in which a film would have its dialog.
 */
export function createChannelAnalysis(channels: number, center?: number) {
  const windows: Window[] = []
  const totals = pairsOf(channels).map(createPairSpectra)
  const levels = pairsOf(channels).map(createLevelHistogram)
  const noise = Array.from({ length: channels }, () => ({ energy: 0, count: 0 }))
  const loudness = Array.from({ length: channels }, (): number[] => [])
  const ownSpeech = createOwnSpeech()

  function write(planes: PlanarSamples, speech: readonly Float32Array[]): void {
    const frames: SpectralFrame[] = []
    for (let at = 0; at + SPECTRUM_SAMPLES <= planes[0]!.length; at += SPECTRUM_HOP) {
      const spectra = speechSpectra(
        planes.map((plane) => plane.subarray(at, at + SPECTRUM_SAMPLES)),
      )
      if (speech.every((probabilities) => isSilent(probabilities, at))) addNoise(noise, spectra)
      frames.push({
        spectra,
        isSpeech: speech.map((probabilities) => isSpeechAt(probabilities, at)),
      })
    }
    addLoudness(loudness, frames, planes[0]!.length)
    const pairs = pairsOf(channels).map((pair, i) => {
      const { unshifted, best } = comparePair(
        frames.map((frame) => withoutLeak(frame, pair)),
        pair,
      )
      addPairSpectra(totals[i]!, unshifted.sums)
      for (const cell of best.cells) levels[i]!.add(cell)
      const isSame = coherenceOf(best.sums) >= MIN_COHERENCE
      if (channels === 2) ownSpeech.add(framesAt(frames, isSame ? best.lag : 0), isSame)
      return best.sums.count < MIN_SPEECH ? null : measure(best.sums)
    })
    const spoken = (channel: number) => frames.filter(({ isSpeech }) => isSpeech[channel]).length
    windows.push({ pairs, hasSpeech: planes.map((_, i) => spoken(i) >= MIN_SPEECH) })
  }

  function currentFacts(): ChannelFacts {
    const floors = noise.map(({ energy, count }) => (count > 0 ? energy / count : 0))
    return { channels, center, windows, levels, totals, floors, loudness }
  }

  return {
    write,
    /** Returns the groups, in the order of their lowest channels. */
    result(mode: ChannelMode): ChannelGroup[] {
      const facts = currentFacts()
      const groups =
        mode === 'separate'
          ? Array.from({ length: channels }, (_, channel) => [channel])
          : mode === 'mix'
            ? [Array.from({ length: channels }, (_, channel) => channel)]
            : ownSpeech.balance(facts) === undefined
              ? findGroups(facts)
              : [[0], [1]]
      return groups.map((group) => ({
        channels: group,
        sources: group.length > 1 ? chooseSources(group, mode, facts) : singleSource(group[0]!),
      }))
    },
    /** Returns by how many decibels the second channel was recorded louder; 0 if unknown. */
    balance(first: number, second: number): number {
      const pairBalance =
        ownSpeech.balance(currentFacts()) ?? levels[pairIndex(first, second)]!.balance()
      return first < second ? pairBalance : -pairBalance
    },
  }
}

function addNoise(noise: { energy: number; count: number }[], spectra: readonly Spectrum[]): void {
  for (const [i, { energy }] of spectra.entries()) {
    noise[i]!.energy += energy
    noise[i]!.count++
  }
}

/**
 * Treats a frame as silent for a pair while a third channel has speech so much louder that it leaks
 * into both, which says nothing about their own voices.
 */
function withoutLeak(frame: SpectralFrame, [a, b]: readonly [number, number]): SpectralFrame {
  const { spectra, isSpeech } = frame
  const loudest = LEAK_RATIO * Math.max(spectra[a]!.energy, spectra[b]!.energy)
  const hasLeak = spectra.some(({ energy }, i) => isSpeech[i] && energy > loudest)
  return hasLeak ? { spectra, isSpeech: isSpeech.map(() => false) } : frame
}

function measure(sum: PairSpectra): PairInWindow {
  const [first, second] = energiesOf(sum)
  const { count } = sum
  return { count, coherence: coherenceOf(sum), first: first / count, second: second / count }
}
