import { mkdirSync, rmSync } from 'node:fs'
import { createChannelAnalysis, WINDOW_SAMPLES } from '../../audio/channels/analyze-channels.ts'
import { createChannelFiles } from '../../audio/channels/channel-files.ts'
import type { ChannelGroup } from '../../audio/channels/choose-sources.ts'
import { type Balance, CROSSTALK_BLOCK } from '../../audio/channels/crosstalk/crosstalk.ts'
import { createCrosstalkRemoval } from '../../audio/channels/crosstalk/crosstalk-removal.ts'
import type { PlanarSamples } from '../../audio/pcm.ts'
import type { ChannelPcm, ChannelToRecognize, GroupChannelsTask } from '../speech-engine.ts'
import { chooseExcerpts, EXCERPT } from './choose-excerpts.ts'
import { normalizeLevel } from './gain.ts'
import { readSamples } from './read-samples.ts'
import type { Vad } from './vad.ts'
import { VAD_FRAME, WARM_UP_FRAMES } from './vad-frames.ts'

/** Samples before an excerpt that warm up the detector; whole frames. */
const LEAD_IN = WARM_UP_FRAMES * VAD_FRAME
const BLOCK = CROSSTALK_BLOCK * VAD_FRAME

/**
 * Groups channels that carry the same speech, and writes the files to recognize: one for each
 * group, and one for each other channel, without crosstalk.
 */
export async function groupChannels(
  detector: Pick<Vad, 'detect'>,
  { channels, mode, center, folder }: GroupChannelsTask,
  signal: AbortSignal,
): Promise<ChannelToRecognize[]> {
  const middle = channels.findIndex(({ channel }) => channel === center)
  const analysis = createChannelAnalysis(channels.length, middle < 0 ? undefined : middle)
  const { samples } = channels[0]!
  // Separate channels are analyzed too: crosstalk is detected by the gains of the speakers.
  for (const start of await chooseExcerpts(channels, signal)) {
    signal.throwIfAborted()
    await analyzeExcerpt(detector, channels, { start, analysis })
  }
  const groups = analysis.result(mode)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const files = createChannelFiles(folder, groups.length)
  try {
    const firstSources = groups.map(({ sources }) => sources[0]!.channel)
    const balances = firstSources.map((a) => {
      return firstSources.map((b) => (a === b ? 0 : analysis.balance(a, b)))
    })
    const balance = (a: number, b: number) => balances[a]![b]!
    const leaksInto = await writeGroups(channels, { groups, balance, files, signal })
    return files.finish().map(({ path }, i) => {
      const members = new Set([...groups[i]!.channels, ...leaksInto[i]!])
      const sourceChannels = [...members].map((member) => channels[member]!.channel)
      return { channel: channelOf(i, groups, channels), path, samples, sourceChannels }
    })
  } finally {
    files.close()
  }
}

/** Returns the channel of a group in the result: 0 for a single group, else its lowest channel. */
function channelOf(
  i: number,
  groups: readonly ChannelGroup[],
  channels: readonly ChannelPcm[],
): number {
  return groups.length === 1 ? 0 : channels[groups[i]!.channels[0]!]!.channel
}

type Analysis = ReturnType<typeof createChannelAnalysis>

async function analyzeExcerpt(
  detector: Pick<Vad, 'detect'>,
  channels: readonly ChannelPcm[],
  { start, analysis }: { start: number; analysis: Analysis },
): Promise<void> {
  const end = Math.min(channels[0]!.samples, start + EXCERPT)
  const leadIn = Math.min(start, LEAD_IN)
  const planes: PlanarSamples = []
  const speech: Float32Array[] = []
  for (const { path } of channels) {
    const audio = readSamples(path, start - leadIn, end)
    planes.push(audio.slice(leadIn))
    const probabilities = await detector.detect(normalizeLevel(audio))
    speech.push(probabilities.slice(leadIn / VAD_FRAME))
  }
  for (let at = 0; at < end - start; at += WINDOW_SAMPLES) {
    const frame = at / VAD_FRAME
    analysis.write(
      planes.map((plane) => plane.slice(at, at + WINDOW_SAMPLES)),
      speech.map((probabilities) =>
        probabilities.subarray(frame, frame + WINDOW_SAMPLES / VAD_FRAME),
      ),
    )
  }
}

type GroupingOutput = {
  groups: readonly ChannelGroup[]
  balance: Balance
  files: ReturnType<typeof createChannelFiles>
  signal: AbortSignal
}

/** Writes all groups, block by block; returns for each group the channels into which it leaks. */
async function writeGroups(
  channels: readonly ChannelPcm[],
  { groups, balance, files, signal }: GroupingOutput,
): Promise<Set<number>[]> {
  const { samples } = channels[0]!
  const leaksInto = groups.map(() => new Set<number>())
  const removal = groups.length > 1 ? createCrosstalkRemoval(groups.length, balance) : undefined
  let next = mixBlock(channels, groups, 0)
  removal?.add(next)
  for (let start = 0; start < samples; start += BLOCK) {
    signal.throwIfAborted()
    await new Promise(setImmediate)
    let planes = next
    next = mixBlock(channels, groups, start + BLOCK)
    if (removal) {
      removal.add(next)
      const clean = removal.remove()
      planes = clean.planes
      for (const { source, target } of clean.paths) {
        for (const member of groups[target]!.channels) leaksInto[source]!.add(member)
      }
    }
    files.write(planes.map((plane) => plane.slice(0, Math.min(BLOCK, samples - start))))
  }
  return leaksInto
}

/** Reads one block of each group, padded with silence. */
function mixBlock(
  channels: readonly ChannelPcm[],
  groups: readonly ChannelGroup[],
  start: number,
): PlanarSamples {
  return groups.map(({ sources }) => {
    const mix = new Float32Array(BLOCK)
    for (const { channel, delay } of sources) {
      const { path, samples } = channels[channel]!
      const from = Math.min(samples, Math.max(0, start + delay))
      const to = Math.max(from, Math.min(samples, start + delay + BLOCK))
      const read = readSamples(path, from, to)
      const offset = from - start - delay
      for (let i = 0; i < read.length; i++) mix[offset + i]! += read[i]! / sources.length
    }
    return mix
  })
}

/** Seconds that the task may take per second of all channels together. */
export const GROUPING_TIMEOUT_PER_SECOND = 2
