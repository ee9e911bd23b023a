import { WINDOW_SAMPLES } from '../../audio/channels/analyze-channels.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { ChannelPcm } from '../speech-engine.ts'
import { readSamples } from './read-samples.ts'

/** Samples of one excerpt of a recording: 16 s. */
export const EXCERPT = 4 * WINDOW_SAMPLES
/** Of a recording longer than 20 min, only this many excerpts are analyzed, evenly spread. */
const MAX_EXCERPTS = 75
/** The samples of each second whose level stands for it: 0.13 s. */
const PROBE = 2048

/**
 * Returns the starts of the excerpts by which the channels of a recording are compared: all of a
 * short one, a selection of a long one. Of three channels or more, it includes for each channel the
 * excerpt in which it is loudest above the others, because a participant of a long meeting may
 * speak only once.
 */
export async function chooseExcerpts(
  channels: readonly ChannelPcm[],
  signal: AbortSignal,
): Promise<number[]> {
  const { samples } = channels[0]!
  const all = Math.max(1, Math.ceil(samples / EXCERPT))
  const count = Math.min(all, MAX_EXCERPTS)
  const chosen = new Set(Array.from({ length: count }, (_, i) => Math.floor((i * all) / count)))
  if (count < all && channels.length > 2) {
    const seconds = await loudestSeconds(channels, Math.floor(samples / SAMPLE_RATE), signal)
    for (const second of seconds) chosen.add(Math.floor((second * SAMPLE_RATE) / EXCERPT))
  }
  return [...chosen].sort((a, b) => a - b).map((excerpt) => excerpt * EXCERPT)
}

/** Returns for each channel the second in which it has the most energy above all others. */
async function loudestSeconds(
  channels: readonly ChannelPcm[],
  seconds: number,
  signal: AbortSignal,
): Promise<number[]> {
  const loudest = channels.map(() => ({ second: 0, lead: Number.NEGATIVE_INFINITY }))
  for (let second = 0; second < seconds; second++) {
    if (second % 60 === 0) {
      signal.throwIfAborted()
      await new Promise(setImmediate)
    }
    const start = second * SAMPLE_RATE
    const energies = channels.map(({ path }) => energyOf(readSamples(path, start, start + PROBE)))
    for (const [channel, best] of loudest.entries()) {
      const lead = energies[channel]! - Math.max(...energies.toSpliced(channel, 1))
      if (lead > best.lead) loudest[channel] = { second, lead }
    }
  }
  return loudest.map(({ second }) => second)
}

function energyOf(samples: Float32Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0)
}
