import { AppError } from '../errors.ts'
import { checkLength } from './audio-limits.ts'
import { type ByteSource, openFileSource } from './byte-source.ts'
import { type ChannelFiles, createChannelFiles } from './channel-files.ts'
import { type Container, detectContainer } from './containers.ts'
import type {
  DecodedMedia,
  DecodeRequest,
  Heartbeat,
  MediaInfo,
  ProbeRequest,
} from './decoder-messages.ts'
import { checkMp4Tables } from './mp4-tables.ts'
import { type Planes, SAMPLE_RATE } from './pcm.ts'
import { createResampler } from './resample.ts'
import { alignStart } from './silence.ts'
import {
  describeSamples,
  headerlessLayout,
  readSamples,
  type SampleLayout,
} from './stored-samples.ts'
import { readWavLayout } from './wav.ts'
import { createWorkCheck } from './work-check.ts'

type Steps = {
  heartbeat: Heartbeat
  onProgress: (fraction: number) => void
  /** For tests: processor time used so far; that of this process by default. */
  cpuSeconds?: () => number
}

/** An opened recording: its description, and its audio in blocks of one rate. */
type AudioSummary = {
  info: MediaInfo
  /** Size of the file. */
  bytes: number
  rate: number
  blocks: AsyncIterable<Planes> | Iterable<Planes>
}

/** Returns what a file holds. Runs in the decoder process. */
export function probeFile(request: ProbeRequest, heartbeat: Heartbeat): Promise<MediaInfo> {
  return withAudio(request, heartbeat, async ({ info }) => info)
}

/** Decodes a file into one file per channel. Runs in the decoder process. */
export function decodeFile(
  request: DecodeRequest,
  { heartbeat, onProgress, cpuSeconds }: Steps,
): Promise<DecodedMedia> {
  const work = createWorkCheck(cpuSeconds)
  const checkedHeartbeat = async () => {
    work.check()
    await heartbeat()
  }
  return withAudio(request, checkedHeartbeat, (audio) => {
    work.bytes = audio.bytes
    const report = (seconds: number) => {
      work.seconds = seconds
      onProgress(Math.min(1, seconds / audio.info.duration))
    }
    return writeAudio(audio, request, { heartbeat: checkedHeartbeat, onProgress: report })
  })
}

async function withAudio<T>(
  request: ProbeRequest | DecodeRequest,
  heartbeat: Heartbeat,
  use: (audio: AudioSummary) => Promise<T>,
): Promise<T> {
  const source = openFileSource(request.file)
  try {
    const container = detectContainer(source, request.nameHint)
    const { extension } = container
    const layout = layoutOf(container, source)
    if (layout) {
      const info = describeSamples(layout, extension)
      const blocks = readSamples(source, layout)
      return await use({ info, bytes: source.size, rate: layout.sampleRate, blocks })
    }
    if (container.reader === 'libav' && container.demuxer === 'mov') checkMp4Tables(source)
    const demuxer = container.reader === 'libav' ? container.demuxer : 'wav'
    return await withLibav(request, { demuxer, extension, bytes: source.size, heartbeat }, use)
  } finally {
    source.close()
  }
}

/** Returns where our own reader finds the samples; undefined where libav has to decode them. */
function layoutOf(container: Container, source: ByteSource): SampleLayout | undefined {
  if (container.reader === 'raw') return headerlessLayout(source, container.encoding)
  return container.reader === 'wav' ? readWavLayout(source) : undefined
}

/** Loads libav only for files that need it: it is the larger part of a decoder's start. */
async function withLibav<T>(
  request: ProbeRequest | DecodeRequest,
  options: { demuxer: string; extension: string; bytes: number; heartbeat: Heartbeat },
  use: (audio: AudioSummary) => Promise<T>,
): Promise<T> {
  const { openMedia } = await import('./libav-open.ts')
  const { decodeTrack } = await import('./libav-decode.ts')
  const media = await openMedia(request.file, { ...options, maxSeconds: request.maxSeconds })
  try {
    const blocks = alignStart(decodeTrack(media, options.heartbeat), media)
    return await use({ info: media.info, bytes: options.bytes, rate: SAMPLE_RATE, blocks })
  } finally {
    media.close()
  }
}

async function writeAudio(
  { info, rate, blocks }: AudioSummary,
  { folder, maxSeconds }: DecodeRequest,
  { heartbeat, onProgress }: Steps,
): Promise<DecodedMedia> {
  checkLength(info.duration, maxSeconds)
  let files: ChannelFiles | undefined
  try {
    for await (const planes of resampled(blocks, rate)) {
      files ??= createChannelFiles(folder, planes.length)
      files.write(planes)
      checkLength(files.samples / SAMPLE_RATE, maxSeconds)
      onProgress(files.samples / SAMPLE_RATE)
      await heartbeat()
    }
    if (!files || files.samples === 0) {
      throw new AppError('media_undecodable', `no audio could be decoded from ${info.codec}`)
    }
    return { duration: files.samples / SAMPLE_RATE, channels: files.finish() }
  } finally {
    files?.close()
  }
}

async function* resampled(
  blocks: AsyncIterable<Planes> | Iterable<Planes>,
  rate: number,
): AsyncGenerator<Planes> {
  let resamplers: ReturnType<typeof createResampler>[] | undefined
  for await (const planes of blocks) {
    resamplers ??= planes.map(() => createResampler(rate, SAMPLE_RATE))
    yield planes.map((plane, channel) => resamplers![channel]!.write(plane))
  }
  if (resamplers) yield resamplers.map((resampler) => resampler.flush())
}
