import {
  AV_CHANNEL_ORDER_UNSPEC,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_INPUT_CHANGED,
  type AVSampleFormat,
} from 'node-av/constants'
import {
  avChannelLayoutDefault,
  type ChannelLayout,
  Frame,
  SoftwareResampleContext,
} from 'node-av/lib'
import { checkAudioFormat } from '../audio-limits.ts'
import type { PlanarSamples } from '../pcm.ts'
import { requireSuccess } from './libav-demux.ts'

/**
 * A streaming resampler based on libav. Its output is read once a second, because each read costs
 * as much as the resampling.
 */
export type FrameResampler = {
  readonly channels: number
  /** Takes a frame; yields the collected output when there is a second of it. */
  write(frame: Frame): Generator<PlanarSamples>
  /** Returns the remaining output; the next frame begins a new stream. */
  flush(): PlanarSamples
  close(): void
}

/**
 * The filter is as sharp as that of `resample.ts`: flat to 7 kHz, 80 dB down from 8.1 kHz on. An
 * hour of 44.1 kHz stereo takes 1.8 s of one 2.5 GHz core; our own loop in JavaScript takes 22 s.
 */
const filter = { filter_type: 'kaiser', kaiser_beta: 8, filter_size: 68, cutoff: 0.935 }

/** A frame of libav refers to this many separate channels; for more, they are interleaved. */
const MAX_PLANES = 8

/**
 * Creates a resampler to `sampleRate` that keeps the channels of the first frame, or converts to
 * `channels`. A track may change its rate or layout (broadcasts do); its later audio is converted
 * to the layout of the first.
 */
export function createFrameResampler(
  first: Frame,
  sampleRate: number,
  channels = first.channels,
): FrameResampler {
  nameChannels(first)
  const keepsChannels = channels === first.channels
  const channelLayout = keepsChannels ? first.channelLayout : avChannelLayoutDefault(channels)
  checkAudioFormat(first) // the header may have declared another format
  const format = channels > MAX_PLANES ? AV_SAMPLE_FMT_FLT : AV_SAMPLE_FMT_FLTP
  const output = new Frame()
  output.alloc()
  let context: SoftwareResampleContext | undefined
  let collectedSeconds = 0

  function* write(frame: Frame): Generator<PlanarSamples> {
    nameChannels(frame)
    context ??= createContext(frame, { format, channelLayout, sampleRate })
    collectedSeconds += frame.nbSamples / frame.sampleRate
    const code = collectedSeconds < 1 ? context.convertFrame(null, frame) : convert(context, frame)
    if (code === AVERROR_INPUT_CHANGED) {
      yield flush()
      yield* write(frame)
      return
    }
    requireSuccess(code)
    if (collectedSeconds >= 1) yield takeOutput()
  }

  function flush(): PlanarSamples {
    if (!context) return empty(channels)
    requireSuccess(convert(context, null))
    context.free()
    context = undefined
    return takeOutput()
  }

  function convert(to: SoftwareResampleContext, frame: Frame | null): number {
    output.unref()
    output.format = format
    output.sampleRate = sampleRate
    output.channelLayout = channelLayout
    return to.convertFrame(output, frame)
  }

  /** Returns a copy of the output: libav reuses the memory of the frame for the next block. */
  function takeOutput(): PlanarSamples {
    collectedSeconds = 0
    const { data, nbSamples } = output
    if (!data || nbSamples === 0) return empty(channels)
    if (format === AV_SAMPLE_FMT_FLT) return separated(data[0]!, nbSamples, channels)
    return data.slice(0, channels).map((plane) => {
      return new Float32Array(
        plane.buffer,
        plane.byteOffset,
        nbSamples,
      ).slice() as PlanarSamples[number]
    })
  }

  function close(): void {
    context?.free()
    output.free()
  }

  return { channels, write, flush, close }
}

/**
 * Assigns the default layout to raw PCM, whose channels have no names: without names, libav's
 * resampler aborts.
 */
function nameChannels(frame: Frame): void {
  if (frame.channelLayout.order !== AV_CHANNEL_ORDER_UNSPEC) return
  frame.channelLayout = avChannelLayoutDefault(frame.channels)
}

function createContext(
  { channelLayout: from, format: fromFormat, sampleRate: rate }: Frame,
  {
    format,
    channelLayout,
    sampleRate,
  }: { format: AVSampleFormat; channelLayout: ChannelLayout; sampleRate: number },
): SoftwareResampleContext {
  const context = new SoftwareResampleContext()
  const target = [channelLayout, format, sampleRate] as const
  requireSuccess(context.allocSetOpts2(...target, from, fromFormat as AVSampleFormat, rate))
  for (const [name, value] of Object.entries(filter)) requireSuccess(context.setOption(name, value))
  requireSuccess(context.init())
  return context
}

/** Returns the samples of each channel of interleaved 32-bit floats. */
function separated(interleaved: Buffer, length: number, channels: number): PlanarSamples {
  const samples = new Float32Array(interleaved.buffer, interleaved.byteOffset, length * channels)
  return Array.from({ length: channels }, (_, channel) => {
    return Float32Array.from({ length }, (_value, i) => samples[i * channels + channel]!)
  })
}

function empty(channels: number): PlanarSamples {
  return Array.from({ length: channels }, () => new Float32Array(0))
}
