import type { LevelHistogram } from './pairs/level-histogram.ts'
import { MIN_SPEECH_RATIO } from './pairs/own-speech.ts'
import { MIN_COHERENCE, pairIndex } from './pairs/pair-comparison.ts'
import type { PairSpectra } from './spectra.ts'

/** A channel has speech of its own, or lacks some, if it is so in this share of the windows. */
export const OWN_SHARE = 0.1

/**
 * Two channels while someone speaks in a window: the number of spectra, their coherence, and the
 * energy of each channel.
 */
export type PairInWindow = { count: number; coherence: number; first: number; second: number }

/** A window of the analysis. `pairs` are null where nobody speaks in either channel. */
export type Window = { pairs: (PairInWindow | null)[]; hasSpeech: boolean[] }

/** What the analysis has found out about the channels of a recording. */
export type ChannelFacts = {
  channels: number
  center: number | undefined
  windows: readonly Window[]
  levels: readonly LevelHistogram[]
  totals: readonly PairSpectra[]
  floors: readonly number[]
  loudness: readonly (readonly number[])[]
}

/** Returns how two channels relate in one window; null if nobody speaks. */
export function relation(
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
 * Returns in which share of the windows with speech a channel has some that the group does not
 * share, and that stands out from its other sounds: music that passes for speech does not.
 */
export function unsharedSpeech(
  channel: number,
  group: readonly number[],
  facts: ChannelFacts,
): number {
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
