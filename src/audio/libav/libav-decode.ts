import {
  type Codec,
  CodecContext,
  type FormatContext,
  Frame,
  type Packet,
  type Stream,
} from 'node-av/lib'
import type { Heartbeat } from '../decoder/decoder-messages.ts'
import { type PlanarSamples, SAMPLE_RATE } from '../pcm.ts'
import { createAlignment, silentPlanes } from '../silence.ts'
import { createGapDetector } from './gap-detector.ts'
import { createChannelJoiner } from './join-channels.ts'
import { readPackets, requireSuccess, secondsOfStamp } from './libav-demux.ts'
import type { OpenedMedia } from './libav-open.ts'
import { createFrameResampler, type FrameResampler } from './libav-resample.ts'

/**
 * Decodes a track to blocks of about a second at 16 kHz, with all its channels, or `channels` if
 * given. Skips damaged packets; inserts silence where audio is missing.
 */
export async function* decodeTrack(
  { format, track, decoder, info, firstPacket }: OpenedMedia,
  { heartbeat, channels }: { heartbeat: Heartbeat; channels?: number },
): AsyncGenerator<PlanarSamples> {
  const { duration } = info
  const trackDecoder = createTrackDecoder(track, { decoder, duration, channels })
  try {
    yield* trackDecoder.decode(firstPacket)
    for await (const packet of readPackets(format, { track: track.index, heartbeat })) {
      yield* trackDecoder.decode(packet)
    }
    yield* trackDecoder.finish()
  } finally {
    trackDecoder.close()
  }
}

/** A track of one channel, and when its audio starts: see `OpenedMedia`. */
export type ChannelTrack = Pick<OpenedMedia, 'decoder' | 'lead' | 'delay'> & {
  track: Stream
  duration: number
}

/** Decodes tracks of one channel each to blocks with all these channels. */
export async function* decodeChannels(
  format: FormatContext,
  { tracks, heartbeat }: { tracks: readonly ChannelTrack[]; heartbeat: Heartbeat },
): AsyncGenerator<PlanarSamples> {
  const channels = tracks.map(({ track, decoder, duration, ...start }) => {
    const trackDecoder = createTrackDecoder(track, { decoder, duration, channels: 1 })
    return { index: track.index, ...trackDecoder, align: createAlignment(start) }
  })
  const joiner = createChannelJoiner(channels.length)
  const push = (channel: number, blocks: Iterable<PlanarSamples>) => {
    for (const block of blocks) {
      for (const [samples] of channels[channel]!.align(block)) joiner.push(channel, samples!)
    }
  }
  try {
    for await (const packet of readPackets(format, { heartbeat })) {
      const channel = channels.findIndex(({ index }) => index === packet.streamIndex)
      if (channel >= 0) push(channel, channels[channel]!.decode(packet))
      yield* joiner.take()
    }
    for (const [channel, { finish }] of channels.entries()) push(channel, finish())
    yield* joiner.finish()
  } finally {
    for (const { close } of channels) close()
  }
}

type TrackDecoderOptions = { decoder: Codec; duration: number; channels?: number | undefined }

function createTrackDecoder(track: Stream, { decoder, duration, channels }: TrackDecoderOptions) {
  const codec = openCodec(track, decoder)
  const frame = new Frame()
  frame.alloc()
  const missingBefore = createGapDetector(duration)
  let resampler: FrameResampler | undefined
  let firstRate: number | undefined

  /** Decodes a packet; null makes the decoder return what it has buffered. */
  function* decode(packet: Packet | null): Generator<PlanarSamples> {
    codec.sendPacketSync(packet)
    while (codec.receiveFrameSync(frame) >= 0) {
      resampler ??= createFrameResampler(frame, SAMPLE_RATE, channels)
      const { sampleRate } = frame
      firstRate ??= sampleRate
      // The time stamps of bare streams count samples of the first rate, so they are wrong after a
      // change.
      const stamp = sampleRate === firstRate ? secondsOfStamp(frame.pts, track) : undefined
      const missing = missingBefore(stamp, frame.nbSamples / sampleRate)
      if (missing > 0) {
        yield resampler.flush()
        yield* silentPlanes(missing * SAMPLE_RATE, resampler.channels)
      }
      yield* resampler.write(frame)
    }
  }

  return {
    decode,
    *finish(): Generator<PlanarSamples> {
      yield* decode(null)
      if (resampler) yield resampler.flush()
    },
    close(): void {
      resampler?.close()
      frame.free()
      codec.freeContext()
    },
  }
}

function openCodec({ codecpar, timeBase }: Stream, decoder: Codec): CodecContext {
  const codec = new CodecContext()
  codec.allocContext3(decoder)
  requireSuccess(codec.parametersToContext(codecpar))
  codec.pktTimebase = timeBase // the decoder cuts off the encoder's delay, counted in this base
  codec.threadCount = 1
  requireSuccess(codec.open2Sync(decoder))
  return codec
}
