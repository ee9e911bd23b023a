import { type ChannelFacts, OWN_SHARE, unsharedSpeech } from './channel-facts.ts'
import { isCopy } from './pairs/compare-loudness.ts'
import { pairIndex } from './pairs/pair-comparison.ts'
import { delayOf, spectralCorrelation } from './spectra.ts'

/** Channels that are recognized together. `sources` are summed, each moved ahead by its delay. */
export type ChannelGroup = {
  channels: number[]
  sources: { channel: number; delay: number }[]
}

/** How the channels of a recording are grouped; for `auto` see `createChannelAnalysis`. */
export type ChannelMode = 'auto' | 'mix' | 'separate'

/** Adding a channel with more than three times the noise makes a mix worse. */
const MAX_NOISE = 3
/** Channels with a lower correlation cancel each other, or sound like a comb filter, when added. */
const MIN_CORRELATION = 0.6
/** The longest delay of sound between microphones: 50 ms, or 17 m. */
const MAX_DELAY = 800

/**
 * Chooses the channels of a group to recognize: the one that misses no speech of the others, or the
 * least, and of several such the one with the least noise. Adds those with speech that it misses,
 * and those that correlate with it and are hardly noisier. A requested mix must contain every word;
 * in a detected group, rare differences are errors of the detection.
 */
export function chooseSources(
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

export function singleSource(channel: number): ChannelGroup['sources'] {
  return [{ channel, delay: 0 }]
}
