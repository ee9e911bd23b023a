import type { PlanarSamples } from '../pcm.ts'
import { addLoudness, isCopy } from './pairs/compare-loudness.ts'
import { createLevelHistogram, type LevelHistogram, SAME_LEVEL } from './pairs/level-histogram.ts'
import { createOwnSpeech, MIN_SPEECH_RATIO } from './pairs/own-speech.ts'
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
  delayOf,
  energiesOf,
  type PairSpectra,
  SPECTRUM_HOP,
  SPECTRUM_SAMPLES,
  type Spectrum,
  spectralCorrelation,
  speechSpectra,
} from './spectra.ts'

/** Channels that are recognized together. `sources` are summed, each moved ahead by its delay. */
export type ChannelGroup = {
  channels: number[]
  sources: { channel: number; delay: number }[]
}

/** How the channels of a recording are grouped; for `auto` see `createChannelAnalysis`. */
export type ChannelMode = 'auto' | 'mix' | 'separate'

/** Samples of one window of the analysis: four seconds, which is one or two sentences. */
export const WINDOW_SAMPLES = 64_000

/** The minimum number of spectra with speech in a window (0.8 s). */
const MIN_SPEECH = 12
/** A channel with more than this factor of the energy of two others may leak into both. */
const LEAK_RATIO = 10 ** (SAME_LEVEL / 10)
/** The share of the level differences that is ignored at either end. */
const IGNORED_SHARE = 0.1
/**
 * A channel is not grouped with others if it has speech of its own in this share of the windows.
 */
const OWN_SHARE = 0.1
/** Adding a channel with more than three times the noise makes a mix worse. */
const MAX_NOISE = 3
/** Channels with a lower correlation cancel each other, or sound like a comb filter, when added. */
const MIN_CORRELATION = 0.6
/** The longest delay of sound between microphones: 50 ms, or 17 m. */
const MAX_DELAY = 800

type Pair = { count: number; coherence: number; first: number; second: number }
type Window = { pairs: (Pair | null)[]; hasSpeech: boolean[] }

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

type ChannelFacts = {
  channels: number
  center: number | undefined
  windows: readonly Window[]
  levels: readonly LevelHistogram[]
  totals: readonly PairSpectra[]
  floors: readonly number[]
  loudness: readonly (readonly number[])[]
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

function measure(sum: PairSpectra): Pair {
  const [first, second] = energiesOf(sum)
  const { count } = sum
  return { count, coherence: coherenceOf(sum), first: first / count, second: second / count }
}

/**
 * Groups the channels that share their speech. Adds channels without any speech to a larger group.
 */
function findGroups(facts: ChannelFacts): number[][] {
  const { channels, center, windows } = facts
  const group = Array.from({ length: channels }, (_, channel) => channel)
  for (const [a, b] of pairsOf(channels)) {
    if (group[a] === group[b] || !isShared(a, b, facts)) continue
    const [from, to] = [Math.max(group[a]!, group[b]!), Math.min(group[a]!, group[b]!)]
    for (let i = 0; i < channels; i++) if (group[i] === from) group[i] = to
  }
  const all = group.map((_, channel) => channel)
  if (channels > 2 && all.some((channel) => isSum(channel, facts))) return [all]
  const groups = [...new Set(group)].map((root) => {
    return group.flatMap((number, channel) => (number === root ? [channel] : []))
  })
  if (channels < 3 && center === undefined) return groups
  const loudest = windows.map((window) => loudestOf(window, facts))
  const loudestWindows = (members: readonly number[]) =>
    loudest.filter((channel) => members.includes(channel)).length
  const main = groups.toSorted((a, b) => loudestWindows(b) - loudestWindows(a))[0]!
  const otherChannels = groups.filter((group) => group !== main).flat()
  const isGroup =
    main.length > 1 || otherChannels.some((otherChannel) => leaks(main, otherChannel, facts))
  const mayBeFilm = main[0] === center
  if (loudestWindows(main) === 0 || !(isGroup || mayBeFilm)) return groups
  if (
    !isGroup &&
    otherChannels.some((otherChannel) => unsharedSpeech(otherChannel, main, facts) > 0)
  )
    return groups
  const mayBeMeeting = main.length === 1 && !mayBeFilm
  const isParty = (channel: number) =>
    hasOwnSpeech(channel, main, facts) ||
    (mayBeMeeting && windows.some((w, i) => loudest[i] === channel && leaksOnly(w, channel, facts)))
  const withSpeech = groups.filter((members) => members !== main && members.some(isParty))
  const parties = withSpeech.flat()
  const shared = all.filter((i) => !parties.includes(i))
  return [shared, ...withSpeech].toSorted((a, b) => a[0]! - b[0]!)
}

/** Returns the channel whose speech is loudest in a window; -1 when nobody speaks. */
function loudestOf({ pairs, hasSpeech }: Window, { channels, floors }: ChannelFacts): number {
  let [loudest, max] = [-1, 0]
  for (const [i, [a, b]] of pairsOf(channels).entries()) {
    const pair = pairs[i]
    for (const [channel, energy] of [
      [a, pair?.first ?? 0],
      [b, pair?.second ?? 0],
    ] as const) {
      const speech = energy - floors[channel]!
      if (hasSpeech[channel] && speech > max) [loudest, max] = [channel, speech]
    }
  }
  return loudest
}

/** Returns how two channels relate in one window; null if nobody speaks. */
function relation(
  { pairs }: Window,
  [a, b]: [number, number],
  { floors }: ChannelFacts,
): { isCoherent: boolean; level: number } | null {
  const pair = pairs[pairIndex(a, b)]
  if (!pair) return null
  const [low, high] = a < b ? [a, b] : [b, a]
  const first = Math.max(pair.first - floors[low]!, 1e-9)
  const second = Math.max(pair.second - floors[high]!, 1e-9)
  const level = 10 * Math.log10(second / first)
  return { isCoherent: pair.coherence >= MIN_COHERENCE, level: a < b ? level : -level }
}

/**
 * Returns whether both channels contain the same voices most of the time, at the levels of one
 * group. Of two parties, each is louder in its own channel: half of the difference is the leak,
 * whatever the gains of the channels. If only one of them speaks, it is louder in one channel.
 */
function isShared(a: number, b: number, { windows, levels }: ChannelFacts): boolean {
  const index = pairIndex(a, b)
  let coherent = 0
  for (const { pairs } of windows) {
    const pair = pairs[index]
    if (pair) coherent += pair.coherence >= MIN_COHERENCE ? pair.count : -pair.count
  }
  const [low, middle, high] = [IGNORED_SHARE, 0.5, 1 - IGNORED_SHARE].map(levels[index]!.quantile)
  const difference = Math.max((high! - low!) / 2, Math.abs(middle!))
  return coherent > 0 && difference < SAME_LEVEL
}

/** Returns whether another channel also has the speech of a group, at a lower level. */
function leaks(group: readonly number[], otherChannel: number, facts: ChannelFacts): boolean {
  let [leaked, all] = [0, 0]
  for (const window of facts.windows) {
    const memberRelations = group.map((member) => relation(window, [member, otherChannel], facts))
    if (memberRelations.every((relation) => relation === null)) continue
    all++
    if (memberRelations.some((relation) => relation?.isCoherent)) leaked++
  }
  return leaked > all / 2
}

/** Returns whether the other channels have only the crosstalk of a channel in a window. */
function leaksOnly(window: Window, channel: number, facts: ChannelFacts): boolean {
  return window.hasSpeech.every((_, otherChannel) => {
    if (otherChannel === channel) return true
    const pair = relation(window, [otherChannel, channel], facts)
    return !pair?.isCoherent || pair.level >= SAME_LEVEL
  })
}

/**
 * Returns whether a channel is the sum of the others: when one of them has speech, it has the same
 * speech at the same level.
 */
function isSum(channel: number, facts: ChannelFacts): boolean {
  let [same, all] = [0, 0]
  for (const window of facts.windows) {
    const speakers = window.hasSpeech.flatMap((speaks, i) => (speaks && i !== channel ? [i] : []))
    if (speakers.length === 0) continue
    all++
    const relations = speakers.map((speaker) => relation(window, [channel, speaker], facts))
    if (relations.some((pair) => pair?.isCoherent && Math.abs(pair.level) < SAME_LEVEL)) same++
  }
  return same > all * (1 - OWN_SHARE)
}

function hasOwnSpeech(channel: number, group: readonly number[], facts: ChannelFacts): boolean {
  let [ownWindows, all] = [0, 0]
  for (const window of facts.windows) {
    if (!window.hasSpeech[channel] && !group.some((member) => window.hasSpeech[member])) continue
    all++
    const isOwn = group.every((member) => {
      const memberRelation = relation(window, [member, channel], facts)
      return memberRelation?.isCoherent
        ? memberRelation.level >= SAME_LEVEL
        : !window.hasSpeech[member]
    })
    if (window.hasSpeech[channel] && isOwn) ownWindows++
  }
  return ownWindows > all * OWN_SHARE
}

/**
 * Returns in which share of the windows with speech a channel has some that the group does not
 * share, and that stands out from its other sounds: music that passes for speech does not.
 */
function unsharedSpeech(channel: number, group: readonly number[], facts: ChannelFacts): number {
  const { windows, floors } = facts
  const unshared = windows.filter((window) => {
    if (!window.hasSpeech[channel]) return false
    const energy = Math.max(...group.map((member) => energyOf(channel, member, window)))
    if (energy <= MIN_SPEECH_RATIO * floors[channel]!) return false
    return !group.some((member) => relation(window, [member, channel], facts)?.isCoherent)
  })
  const spoken = windows.filter(({ hasSpeech }) => {
    return hasSpeech[channel] || group.some((member) => hasSpeech[member])
  })
  return spoken.length > 0 ? unshared.length / spoken.length : 0
}

/** Returns the energy of a channel while it or another one has speech. */
function energyOf(channel: number, otherChannel: number, { pairs }: Window): number {
  const pair = pairs[pairIndex(channel, otherChannel)]
  return (channel < otherChannel ? pair?.first : pair?.second) ?? 0
}

/**
 * Chooses the channels of a group to recognize: the one that misses no speech of the others, or the
 * least, and of several such the one with the least noise. Adds those with speech that it misses,
 * and those that correlate with it and are hardly noisier. A requested mix must contain every word;
 * in a detected group, rare differences are errors of the detection.
 */
function chooseSources(
  group: readonly number[],
  mode: ChannelMode,
  facts: ChannelFacts,
): ChannelGroup['sources'] {
  const { floors, windows, totals, loudness } = facts
  const noises = new Map(group.map((channel) => [channel, noiseOf(channel)]))
  const spoken = group.map(
    (channel) => windows.filter(({ hasSpeech }) => hasSpeech[channel]).length,
  )
  // A channel that is silent most of the time has the least noise, but lacks the speech.
  const candidates = group.filter((_, i) => 2 * spoken[i]! >= Math.max(...spoken))
  const findMissing = (channel: number) => {
    const share = mode === 'mix' ? 0 : OWN_SHARE
    return group.filter((otherMember) => {
      if (otherMember === channel || unsharedSpeech(otherMember, [channel], facts) <= share)
        return false
      return !isCopy(loudness[channel]!, loudness[otherMember]!)
    })
  }
  const missing = new Map(candidates.map((channel) => [channel, findMissing(channel)]))
  const best = candidates.toSorted((a, b) => {
    return missing.get(a)!.length - missing.get(b)!.length || noises.get(a)! - noises.get(b)!
  })[0]!
  const otherChannels = group.flatMap((channel) => {
    if (missing.get(best)!.includes(channel)) return singleSource(channel)
    if (channel === best || noises.get(channel)! > MAX_NOISE * noises.get(best)!) return []
    const sums = totals[pairIndex(best, channel)]!
    const sign = best < channel ? 1 : -1
    const delays = [0, sign * delayOf(sums, MAX_DELAY)]
    const delay = delays.find(
      (candidate) => spectralCorrelation(sums, sign * candidate) >= MIN_CORRELATION,
    )
    return delay === undefined ? [] : [{ channel, delay }]
  })
  return [...singleSource(best), ...otherChannels]

  /** Returns the energy of the noise of a channel, relative to its speech. */
  function noiseOf(channel: number): number {
    let [speech, count] = [0, 0]
    for (const { pairs } of windows) {
      const other = group.find((member) => member !== channel)!
      const pair = pairs[pairIndex(channel, other)]
      if (!pair) continue
      speech += channel < other ? pair.first : pair.second
      count++
    }
    const floor = Math.max(floors[channel]!, 1e-6)
    const mean = count > 0 ? speech / count : 0
    return mean > floor ? floor / (mean - floor) : Number.POSITIVE_INFINITY
  }
}

function singleSource(channel: number): ChannelGroup['sources'] {
  return [{ channel, delay: 0 }]
}
