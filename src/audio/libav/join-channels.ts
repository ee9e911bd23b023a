import { type PlanarSamples, SAMPLE_RATE } from '../pcm.ts'

/**
 * The samples by which all channels together may be ahead of another one, which take 31 MB: four
 * minutes of two channels. Tracks are interleaved, so a channel that is further behind has ended,
 * or begins later.
 */
const MAX_AHEAD = 480 * SAMPLE_RATE
/** The samples of a block: a second. */
const BLOCK = SAMPLE_RATE

type Samples = PlanarSamples[number]

/**
 * Joins channels that arrive separately to blocks of all of them. A channel that lags behind, or
 * has ended, gets silence; what arrives later for that time is dropped.
 */
export function createChannelJoiner(channels: number) {
  const queues = Array.from({ length: channels }, (): Samples[] => [])
  const waiting = new Float64Array(channels)
  /** The samples of silence that a channel got because it lagged behind. */
  const silent = new Float64Array(channels)

  function push(channel: number, samples: Samples): void {
    const late = Math.min(silent[channel]!, samples.length)
    silent[channel]! -= late
    if (late === samples.length) return
    queues[channel]!.push(samples.subarray(late))
    waiting[channel]! += samples.length - late
  }

  /** Removes the first samples of a channel, with silence for those that are missing. */
  function remove(channel: number, length: number): Samples {
    const block = new Float32Array(length)
    const queue = queues[channel]!
    let filled = 0
    while (filled < length && queue.length > 0) {
      const part = queue[0]!.subarray(0, length - filled)
      block.set(part, filled)
      filled += part.length
      if (part.length === queue[0]!.length) queue.shift()
      else queue[0] = queue[0]!.subarray(part.length)
    }
    waiting[channel]! -= filled
    silent[channel]! += length - filled
    return block
  }

  function* blocks(samples: number): Generator<PlanarSamples> {
    for (let left = samples; left > 0; left -= BLOCK) {
      yield queues.map((_, channel) => remove(channel, Math.min(left, BLOCK)))
    }
  }

  return {
    push,
    /** Yields what all channels have, in blocks of at least a second. */
    *take(): Generator<PlanarSamples> {
      const most = Math.max(...waiting) - MAX_AHEAD / channels
      const ready = Math.max(Math.min(...waiting), most)
      if (ready >= BLOCK) yield* blocks(ready)
    },
    /** Yields the rest. */
    *finish(): Generator<PlanarSamples> {
      yield* blocks(Math.max(...waiting))
    },
  }
}
