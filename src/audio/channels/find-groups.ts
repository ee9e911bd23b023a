import {
  type ChannelFacts,
  OWN_SHARE,
  relation,
  unsharedSpeech,
  type Window,
} from './channel-facts.ts'
import { SAME_LEVEL } from './pairs/level-histogram.ts'
import { MIN_COHERENCE, pairIndex, pairsOf } from './pairs/pair-comparison.ts'

/** The share of the level differences that is ignored at either end. */
const IGNORED_SHARE = 0.1

/**
 * Groups the channels that share their speech. Adds channels without any speech to a larger group.
 */
export function findGroups(facts: ChannelFacts): number[][] {
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
