import type { LiveMessage } from './live-api-types.ts'

/**
 * Returns a percentile of the values, sorted or not: 0.5 is the median. Undefined when there are
 * none.
 */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** The latencies of a session, in milliseconds each. */
export type Latencies = {
  /** From sending audio to its ack. */
  acks: number[]
  /** From the moment the begin of speech was sent to the first partial with text. */
  firstPartials: number[]
  /** From the moment the end of speech was sent to its final. */
  finals: number[]
}

/** Measures one session from the times of its sent audio and its received messages. */
export type LatencyWatch = {
  readonly latencies: Latencies
  /** Records sent audio; `end` is the byte of the session behind it. */
  given(end: number, at: number): void
  received(message: LiveMessage, at: number): void
}

/**
 * A final belongs to an end of speech if its utterance ends at most this many seconds before it, or
 * later.
 */
const END_TOLERANCE = 1

/** The speech that goes on, and the ends of those whose final has not come; in seconds. */
type ChannelSpeech = { open: { start: number; isShown: boolean } | undefined; ends: number[] }

/**
 * Creates the measurement of a session with `bytesPerSecond` of audio; moments are
 * `performance.now()`. `onsetOf` returns when the speech that starts at a time really began, where
 * a better value is known.
 */
export function createLatencyWatch(
  bytesPerSecond: number,
  { onsetOf = (time) => time }: { onsetOf?: (time: number) => number } = {},
): LatencyWatch {
  const latencies: Latencies = { acks: [], firstPartials: [], finals: [] }
  const sent = createSendLog(bytesPerSecond)
  const channels = new Map<number, ChannelSpeech>()

  function since(time: number, at: number, into: number[]): void {
    const from = sent.sentAt(time)
    if (from !== undefined) into.push(at - from)
  }

  function recognized(message: Extract<LiveMessage, { type: 'transcript' }>, at: number): void {
    const { is_final, utterance } = message.data
    const { open, ends } = speechOf(utterance.channel)
    if (utterance.text === '') return
    if (!is_final) {
      if (open && !open.isShown) since(open.start, at, latencies.firstPartials)
      if (open) open.isShown = true
      return
    }
    // Speech without text has no final.
    while (ends.length > 0 && ends[0]! <= utterance.start) ends.shift()
    // A cut at the maximum duration has a final too, but no end of speech.
    if (ends.length === 0 || utterance.end + END_TOLERANCE < ends[0]!) return
    since(ends.shift()!, at, latencies.finals)
  }

  function speechOf(channel: number): ChannelSpeech {
    const speech = channels.get(channel) ?? { open: undefined, ends: [] }
    channels.set(channel, speech)
    return speech
  }

  return {
    latencies,
    given: sent.add,
    received(message, at) {
      switch (message.type) {
        case 'audio_chunk':
          if (message.acknowledged && message.data?.byte_range) {
            const times = sent.acknowledge(message.data.byte_range[1])
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

/** Creates a list of when which bytes were sent. */
function createSendLog(bytesPerSecond: number) {
  const moments: { end: number; at: number }[] = []
  let acknowledged = 0
  return {
    add: (end: number, at: number) => void moments.push({ end, at }),
    /**
     * Returns when the sample at `time` was sent. A later chunk cannot have been sent before an
     * earlier one.
     */
    sentAt(time: number): number | undefined {
      const byte = Math.round(time * bytesPerSecond)
      let [low, high] = [0, moments.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if (moments[middle]!.end < byte) low = middle + 1
        else high = middle
      }
      return (moments[low] ?? moments.at(-1))?.at
    },
    /** Returns when the chunks up to `end` were sent that had not been acknowledged. */
    acknowledge(end: number): number[] {
      const from = acknowledged
      while (acknowledged < moments.length && moments[acknowledged]!.end <= end) acknowledged++
      return moments.slice(from, acknowledged).map(({ at }) => at)
    },
  }
}

/** Formats `p50 420 ms, p95 510 ms (9)`; undefined when nothing was measured. */
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
