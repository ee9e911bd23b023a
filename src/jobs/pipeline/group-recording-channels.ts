import type { ChannelToRecognize } from '../../asr/speech-engine.ts'
import type { ChannelMode } from '../../audio/channels/choose-sources.ts'
import type { DecodedMedia } from '../../audio/decoder/decoder-messages.ts'
import { bytesPerSample } from '../../audio/pcm.ts'
import type { Checkpoints } from './checkpoints/checkpoints.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** The channels to recognize of a recording, and whether several channels were mixed. */
export type ChannelGrouping = { channels: ChannelToRecognize[]; mode: 'mix' | 'separate' }

type GroupRecordingOptions = {
  params: Readonly<Record<string, unknown>>
  checkpoints: Pick<Checkpoints, 'channelGroups'>
  signal: AbortSignal
}

/**
 * Decides which channels of a recording are recognized together, as the job requests. The decision
 * is a checkpoint, so that the next attempt decides the same.
 */
export async function groupRecordingChannels(
  { speech, space }: Pick<PipelineDeps, 'speech' | 'space'>,
  { channels }: DecodedMedia,
  { params, checkpoints, signal }: GroupRecordingOptions,
): Promise<ChannelGrouping> {
  const { channel_mode: requested = 'auto' } = params as { channel_mode?: ChannelMode }
  const distinct = channels.filter(({ sameAs }) => sameAs === null)
  const [first] = distinct
  if (distinct.length === 1) {
    const isMix = requested === 'mix' || (requested === 'auto' && channels.length > 1)
    const only = { ...first!, sourceChannels: [first!.channel] }
    return { channels: [only], mode: isMix ? 'mix' : 'separate' }
  }
  const files = await checkpoints.channelGroups(async (folder) => {
    using _ = await space.reserveBytes(distinct.length * first!.samples * bytesPerSample('s16'))
    const task = { channels: distinct, mode: requested, center: centerOf(channels), folder }
    return speech.groupChannels(task, { signal })
  })
  return { channels: files, mode: files.length < distinct.length ? 'mix' : 'separate' }
}

/**
 * Returns the channel that holds the dialog of films: the third of six or eight (left, right,
 * center, ...), or the channel with the same audio that is kept instead; undefined for other
 * recordings.
 */
function centerOf(channels: DecodedMedia['channels']): number | undefined {
  if (channels.length !== 6 && channels.length !== 8) return undefined
  return channels[2]!.sameAs ?? channels[2]!.channel
}
