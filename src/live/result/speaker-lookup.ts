import type { SessionUtterance } from './session-utterances.ts'

/** A span of one channel in seconds. */
export type ChannelSpan = { channel: number; start: number; end: number }

/**
 * Creates a function that returns the speaker of a span: the one who speaks in it for the longest
 * time, or undefined if no speaker is known there. The utterances are sorted by start.
 */
export function createSpeakerLookup(
  utterances: readonly SessionUtterance[],
): (span: ChannelSpan) => number | undefined {
  const byChannel = Map.groupBy(utterances, ({ channel }) => channel)
  return ({ channel, start, end }) => {
    const ofChannel = byChannel.get(channel) ?? []
    const seconds = new Map<number, number>()
    for (
      let i = firstEndingAfter(ofChannel, start);
      i < ofChannel.length && ofChannel[i]!.start < end;
      i++
    ) {
      const { speaker, ...utterance } = ofChannel[i]!
      if (speaker === undefined) continue
      const shared = Math.min(end, utterance.end) - Math.max(start, utterance.start)
      seconds.set(speaker, (seconds.get(speaker) ?? 0) + shared)
    }
    const [best] = [...seconds].sort((a, b) => b[1] - a[1])
    return best?.[0]
  }
}

/**
 * Returns the index of the first utterance that ends after a time in seconds, by binary search:
 * there may be ten thousand utterances.
 */
function firstEndingAfter(utterances: readonly SessionUtterance[], seconds: number): number {
  let [low, high] = [0, utterances.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (utterances[middle]!.end > seconds) high = middle
    else low = middle + 1
  }
  return low
}
