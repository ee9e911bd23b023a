import type { Heartbeat } from '../decoder/decoder-messages.ts'
import type { PlanarSamples } from '../pcm.ts'
import { createAlignment } from '../silence.ts'
import { createChannelJoiner } from './join-channels.ts'
import type { Libav } from './libav.ts'
import type { MediaInput, Track } from './media-input.ts'
import type { OpenedMedia } from './open-media.ts'
import { TrackDecoder } from './track-decoder.ts'

/**
 * Decodes a track to blocks of about a second at 16 kHz, with all its channels, or `channels` if
 * given. Skips damaged packets; inserts silence where audio is missing.
 */
export function decodeTrack(
  { input, track, info, end }: OpenedMedia,
  { heartbeat, channels }: { heartbeat: Heartbeat; channels?: number },
): AsyncIterable<PlanarSamples> {
  async function* decodePackets(): AsyncGenerator<PlanarSamples> {
    const decoder = new TrackDecoder(input, track, { duration: info.duration, channels, end })
    try {
      yield* decoder.decode() // the packet that opening the file has read
      for await (const _packet of input.packets({ track: track.index, heartbeat })) {
        yield* decoder.decode()
      }
      yield* decoder.finish()
    } finally {
      decoder.close()
    }
  }

  return untilCrash(input.libav, decodePackets())
}

/** Yields blocks up to a crash of libav: what it decoded before is not lost. */
async function* untilCrash(
  libav: Libav,
  blocks: AsyncIterable<PlanarSamples>,
): AsyncGenerator<PlanarSamples> {
  try {
    yield* blocks
  } catch (error) {
    if (!libav.hasCrashed) throw error
  }
}

/** A track of one channel, and when its audio starts: see `OpenedMedia`. */
export type ChannelTrack = Pick<OpenedMedia, 'lead' | 'delay' | 'end'> & {
  track: Track
  duration: number
}

/** Decodes tracks of one channel each to blocks with all these channels. */
export async function* decodeChannels(
  input: MediaInput,
  { tracks, heartbeat }: { tracks: readonly ChannelTrack[]; heartbeat: Heartbeat },
): AsyncGenerator<PlanarSamples> {
  const channels = tracks.map(({ track, duration, end, ...start }) => {
    const decoder = new TrackDecoder(input, track, { duration, channels: 1, end })
    return { index: track.index, decoder, align: createAlignment(start) }
  })
  const joiner = createChannelJoiner(channels.length)
  const push = (channel: number, blocks: Iterable<PlanarSamples>) => {
    for (const block of blocks) {
      for (const [samples] of channels[channel]!.align(block)) joiner.push(channel, samples!)
    }
  }

  async function* decodePackets(): AsyncGenerator<PlanarSamples> {
    try {
      for await (const { track } of input.packets({ heartbeat })) {
        const channel = channels.findIndex(({ index }) => index === track)
        if (channel >= 0) push(channel, channels[channel]!.decoder.decode())
        yield* joiner.take()
      }
      for (const [channel, { decoder }] of channels.entries()) push(channel, decoder.finish())
    } finally {
      for (const { decoder } of channels) decoder.close()
    }
  }

  yield* untilCrash(input.libav, decodePackets())
  yield* joiner.finish()
}
