import type { SessionUtterance } from '../result/session-utterances.ts'

/** A stretch of one channel in seconds. */
export type ChannelSpan = { channel: number; start: number; end: number }

/**
 * Makes what finds the speaker of a stretch: of the utterances that overlap it, whose overlap it most. Undefined where
 * nobody is known. `spoken` ascend by start.
 */
export function createSpeakerLookup(
  spoken: readonly SessionUtterance[],
): (span: ChannelSpan) => number | undefined {
  const byChannel = Map.groupBy(spoken, ({ channel }) => channel)
  return ({ channel, start, end }) => {
    const own = byChannel.get(channel) ?? []
    const seconds = new Map<number, number>()
    for (let i = firstReaching(own, start); i < own.length && own[i]!.start < end; i++) {
      const { speaker, ...utterance } = own[i]!
      if (speaker === undefined) continue
      const shared = Math.min(end, utterance.end) - Math.max(start, utterance.start)
      seconds.set(speaker, (seconds.get(speaker) ?? 0) + shared)
    }
    const [best] = [...seconds].sort((a, b) => b[1] - a[1])
    return best?.[0]
  }
}

/** Place of the first utterance that ends behind a moment, by halving: there may be ten thousand. */
function firstReaching(own: readonly SessionUtterance[], moment: number): number {
  let [low, high] = [0, own.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (own[middle]!.end > moment) high = middle
    else low = middle + 1
  }
  return low
}
