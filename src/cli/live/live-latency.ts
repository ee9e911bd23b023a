import type { LiveMessage } from './live-api-types.ts'

/**
 * Returns a percentile of the values, which need not be sorted; `share` 0.5 is the median.
 * Undefined when there are none.
 */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** The latencies of a session, in milliseconds each. */
export type Latencies = {
  /** From sending a chunk to its acknowledgment. */
  acks: number[]
  /** From sending the start of speech to the first partial with text. */
  firstPartials: number[]
  /** From sending the end of speech to its final. */
  finals: number[]
}

/** Measures one session from the times of its sent audio and its received messages. */
export type LatencyWatch = {
  readonly latencies: Latencies
  /** Records that audio was sent at a time; `end` is the session byte after it. */
  sent(end: number, at: number): void
  received(message: LiveMessage, at: number): void
}

/**
 * A final belongs to an end of speech if its utterance ends at most this many seconds before it, or
 * after it.
 */
const END_TOLERANCE = 1

/** The open speech of a channel, and the ends of speech whose final has not arrived; in seconds. */
type ChannelSpeech = { open: { start: number; isShown: boolean } | undefined; ends: number[] }

/**
 * Creates the measurement of a session with `bytesPerSecond` of audio; times are on the clock of
 * `performance.now()`. `onsetOf` corrects the start of speech, in seconds, if a better value is
 * known.
 */
export function createLatencyWatch(
  bytesPerSecond: number,
  { onsetOf = (time) => time }: { onsetOf?: (time: number) => number } = {},
): LatencyWatch {
  const latencies: Latencies = { acks: [], firstPartials: [], finals: [] }
  const sendLog = createSendLog(bytesPerSecond)
  const channels = new Map<number, ChannelSpeech>()

  function addLatency(time: number, at: number, into: number[]): void {
    const from = sendLog.sentAt(time)
    if (from !== undefined) into.push(at - from)
  }

  function recognized(message: Extract<LiveMessage, { type: 'transcript' }>, at: number): void {
    const { is_final, utterance } = message.data
    const { open, ends } = speechOf(utterance.channel)
    if (utterance.text === '') return
    if (!is_final) {
      if (open && !open.isShown) addLatency(open.start, at, latencies.firstPartials)
      if (open) open.isShown = true
      return
    }
    // Speech without text has no final.
    while (ends.length > 0 && ends[0]! <= utterance.start) ends.shift()
    // A cut at the maximum duration has a final too, but no end of speech.
    if (ends.length === 0 || utterance.end + END_TOLERANCE < ends[0]!) return
    addLatency(ends.shift()!, at, latencies.finals)
  }

  function speechOf(channel: number): ChannelSpeech {
    const speech = channels.get(channel) ?? { open: undefined, ends: [] }
    channels.set(channel, speech)
    return speech
  }

  return {
    latencies,
    sent: sendLog.add,
    received(message, at) {
      switch (message.type) {
        case 'audio_chunk':
          if (message.acknowledged && message.data?.byte_range) {
            const times = sendLog.acknowledge(message.data.byte_range[1])
            latencies.acks.push(...times.map((time) => at - time))
          }
          return
        case 'speech_start': {
          const { channel, time } = message.data
          speechOf(channel).open = { start: onsetOf(time), isShown: false }
          return
        }
        case 'speech_end': {
          const speech = speechOf(message.data.channel)
          speech.open = undefined
          speech.ends.push(message.data.time)
          return
        }
        case 'transcript':
          recognized(message, at)
      }
    },
  }
}

/** Creates a log of the times at which bytes were sent. */
function createSendLog(bytesPerSecond: number) {
  const sendTimes: { end: number; at: number }[] = []
  let acknowledged = 0
  return {
    add: (end: number, at: number) => void sendTimes.push({ end, at }),
    /** Returns when the sample at `time` (seconds) was sent: chunks are sent in order. */
    sentAt(time: number): number | undefined {
      const byte = Math.round(time * bytesPerSecond)
      let [low, high] = [0, sendTimes.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if (sendTimes[middle]!.end < byte) low = middle + 1
        else high = middle
      }
      return (sendTimes[low] ?? sendTimes.at(-1))?.at
    },
    /** Returns the send times of the chunks up to byte `end` that had not been acknowledged. */
    acknowledge(end: number): number[] {
      const from = acknowledged
      while (acknowledged < sendTimes.length && sendTimes[acknowledged]!.end <= end) acknowledged++
      return sendTimes.slice(from, acknowledged).map(({ at }) => at)
    },
  }
}

/**
 * Formats percentiles as `p50 420 ms, p95 510 ms (9)`, with the number of values; undefined when
 * there are none.
 */
export function describeLatency(
  values: readonly number[],
  shares: readonly number[],
): string | undefined {
  if (values.length === 0) return undefined
  const parts = shares.map((share) => {
    return `p${share * 100} ${Math.round(percentile(values, share)!)} ms`
  })
  return `${parts.join(', ')} (${values.length})`
}
