import { type Codec, CodecContext, Frame, type Packet, type Stream } from 'node-av/lib'
import type { Heartbeat } from '../decoder/decoder-messages.ts'
import { type PlanarSamples, SAMPLE_RATE } from '../pcm.ts'
import { silentPlanes } from '../silence.ts'
import { createGapDetector } from './gap-detector.ts'
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
  const codec = openCodec(track, decoder)
  const frame = new Frame()
  frame.alloc()
  const missingBefore = createGapDetector(info.duration)
  let resampler: FrameResampler | undefined
  let firstRate: number | undefined

  function* decodeFrames(): Generator<PlanarSamples> {
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

  /** Yields all packets; the last, null, makes the decoder return what it has buffered. */
  async function* allPackets(): AsyncGenerator<Packet | null> {
    yield firstPacket
    yield* readPackets(format, { track: track.index, heartbeat })
    yield null
  }

  try {
    for await (const packet of allPackets()) {
      codec.sendPacketSync(packet)
      yield* decodeFrames()
    }
    if (resampler) yield resampler.flush()
  } finally {
    resampler?.close()
    frame.free()
    codec.freeContext()
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
