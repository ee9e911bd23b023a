import { AppError } from '../../errors.ts'
import { checkLength } from '../audio-limits.ts'
import { createChannelBuffers } from '../channels/channel-buffers.ts'
import { type ChannelOutput, createChannelFiles } from '../channels/channel-files.ts'
import { type ByteSource, openFileSource, sourceAfter } from '../containers/byte-source.ts'
import { type Container, detectContainer } from '../containers/detect-container.ts'
import { findAacLinks } from '../containers/links/aac-links.ts'
import { findUntagged } from '../containers/links/end-tag.ts'
import type { FilePart } from '../containers/links/file-part.ts'
import { findFlacLinks } from '../containers/links/flac-links.ts'
import { findJoinedFiles } from '../containers/links/joined-files.ts'
import { findOggLinks } from '../containers/links/ogg-links.ts'
import { checkMp4Tables } from '../containers/mp4-tables.ts'
import {
  describeSamples,
  headerlessLayout,
  readStoredSamples,
  type SampleLayout,
  secondsOfSamples,
} from '../containers/stored-samples.ts'
import { readWavLayout } from '../containers/wav-layout.ts'
import type { openLibavAudio } from '../libav/libav-audio.ts'
import { type PlanarSamples, SAMPLE_RATE } from '../pcm.ts'
import { createResampler } from '../resample.ts'
import { createCpuBudget } from './cpu-budget.ts'
import type {
  DecodedMedia,
  DecodeRequest,
  DecoderRequest,
  Heartbeat,
  MediaInfo,
  ProbeRequest,
  ShortMedia,
  ShortRequest,
} from './decoder-messages.ts'

type DecodeSteps = {
  heartbeat: Heartbeat
  onProgress: (fraction: number) => void
  /** For tests: returns the CPU seconds used so far; by default those of this process. */
  cpuSeconds?: () => number
}

/** An opened recording: its description, and its audio in blocks of one rate. */
type OpenedAudio = {
  info: MediaInfo
  /** The seconds that the file declares, even if its end is missing. */
  declaredSeconds: number
  /** The seconds after the declared end, which are not read. */
  unreadSeconds: number
  /** The number of audio tracks that are not read. */
  unreadTracks: number
  /** The size of the file. */
  bytes: number
  rate: number
  blocks: AsyncIterable<PlanarSamples> | Iterable<PlanarSamples>
}

/** Returns the properties of a file. Runs in the decoder process. */
export function probeFile(request: ProbeRequest, heartbeat: Heartbeat): Promise<MediaInfo> {
  return withAudio(request, heartbeat, async ({ info }) => info)
}

/** Decodes a file into one file per channel. Runs in the decoder process. */
export function decodeFile(
  request: DecodeRequest,
  { heartbeat, onProgress, cpuSeconds }: DecodeSteps,
): Promise<DecodedMedia> {
  const budget = createCpuBudget(cpuSeconds)
  const checkedHeartbeat = async () => {
    budget.check()
    await heartbeat()
  }
  return withAudio(request, checkedHeartbeat, async (audio) => {
    budget.bytes = audio.bytes
    const report = (seconds: number) => {
      budget.seconds = seconds
      onProgress(Math.min(1, seconds / audio.info.duration))
    }
    const open = (channels: number) => createChannelFiles(request.folder, channels)
    const steps = { heartbeat: checkedHeartbeat, onProgress: report }
    const sink = { open, maxSeconds: request.maxSeconds }
    const { samples, written } = await writeAudio(audio, sink, steps)
    const { declaredSeconds, unreadSeconds, unreadTracks } = audio
    return {
      duration: samples / SAMPLE_RATE,
      statedSeconds: declaredSeconds,
      unreadSeconds,
      unreadTracks,
      channels: written,
    }
  })
}

/**
 * Returns the properties of a file, with its samples if it is short. Samples that cannot be decoded
 * are omitted: a caller that needs them decodes the file again, and gets the error. Runs in the
 * decoder process.
 */
export function probeAndDecodeShort(
  request: ShortRequest,
  heartbeat: Heartbeat,
): Promise<ShortMedia> {
  return withAudio(request, heartbeat, async (audio) => {
    const { info, declaredSeconds, unreadSeconds, unreadTracks } = audio
    if (info.duration > request.maxDecoded) return { info }
    const sink = { open: createChannelBuffers, maxSeconds: request.maxDecoded }
    try {
      const decoded = await writeAudio(audio, sink, { heartbeat, onProgress() {} })
      const { samples, written: channels } = decoded
      return { info, decoded: { samples, declaredSeconds, unreadSeconds, unreadTracks, channels } }
    } catch {
      return { info }
    }
  })
}

async function withAudio<T>(
  request: DecoderRequest,
  heartbeat: Heartbeat,
  use: (audio: OpenedAudio) => Promise<T>,
): Promise<T> {
  const source = openFileSource(request.file)
  try {
    const container = detectContainer(source, request.nameHint)
    const { extension } = container
    const start = container.reader === 'wav' ? (container.start ?? 0) : 0
    const stored = start > 0 ? sourceAfter(source, start) : source
    const layout = layoutOf(container, stored)
    if (layout) {
      const info = describeSamples(layout, extension)
      const blocks = readStoredSamples(stored, layout)
      const declaredSeconds = secondsOfSamples(layout, layout.declaredLength)
      const unreadSeconds = secondsOfSamples(layout, layout.unreadLength)
      const { sampleRate: rate } = layout
      const { size: bytes } = source
      const unread = { unreadSeconds, unreadTracks: 0 }
      return await use({ info, declaredSeconds, ...unread, bytes, rate, blocks })
    }
    if (container.reader === 'libav' && container.demuxer === 'mov') checkMp4Tables(source)
    const demuxer = container.reader === 'libav' ? container.demuxer : 'wav'
    const { size: bytes } = source
    // libav does not skip tags before a WAV file.
    const untagged = start > 0 ? [{ start, end: bytes }] : []
    const links = linkFinders[demuxer]?.(source) ?? untagged
    return await withLibav(request, { demuxer, extension, bytes, heartbeat, links }, use)
  } finally {
    source.close()
  }
}

/** The formats whose files may have several parts, or one before a tag, and how to find these. */
const linkFinders: Partial<Record<string, (source: ByteSource) => FilePart[]>> = {
  ogg: findOggLinks,
  aac: findAacLinks,
  flac: findFlacLinks,
  mp3: findUntagged,
  aiff: (source) => findJoinedFiles(source, 'aiff'),
  au: (source) => findJoinedFiles(source, 'au'),
  caf: (source) => findJoinedFiles(source, 'caf'),
  w64: (source) => findJoinedFiles(source, 'w64'),
  wv: (source) => findJoinedFiles(source, 'wv'),
}

/**
 * Returns the layout of samples that our own reader supports; undefined if libav must decode them.
 */
function layoutOf(container: Container, source: ByteSource): SampleLayout | undefined {
  if (container.reader === 'raw') return headerlessLayout(source, container.encoding)
  return container.reader === 'wav' ? readWavLayout(source) : undefined
}

/** Loads libav only for files that need it: loading it is most of the startup time of a decoder. */
async function withLibav<T>(
  { file, maxSeconds }: DecoderRequest,
  options: Omit<Parameters<typeof openLibavAudio>[1], 'maxSeconds'>,
  use: (audio: OpenedAudio) => Promise<T>,
): Promise<T> {
  const { openLibavAudio: openAudio } = await import('../libav/libav-audio.ts')
  const { info, unreadTracks, blocks, close } = await openAudio(file, { ...options, maxSeconds })
  try {
    const read = { declaredSeconds: info.duration, unreadSeconds: 0, unreadTracks }
    return await use({ info, ...read, bytes: options.bytes, rate: SAMPLE_RATE, blocks })
  } finally {
    close()
  }
}

type Sink<T> = { open(channels: number): ChannelOutput<T>; maxSeconds: number }

async function writeAudio<T>(
  { info, rate, blocks }: OpenedAudio,
  { open, maxSeconds }: Sink<T>,
  { heartbeat, onProgress }: DecodeSteps,
): Promise<{ samples: number; written: T[] }> {
  checkLength(info.duration, maxSeconds)
  let output: ChannelOutput<T> | undefined
  try {
    for await (const planes of resampled(blocks, rate)) {
      output ??= open(planes.length)
      output.write(planes)
      checkLength(output.samples / SAMPLE_RATE, maxSeconds)
      onProgress(output.samples / SAMPLE_RATE)
      await heartbeat()
    }
    if (!output || output.samples === 0) {
      throw new AppError('media_undecodable', `no audio could be decoded from ${info.codec}`)
    }
    return { samples: output.samples, written: output.finish() }
  } finally {
    output?.close()
  }
}

async function* resampled(
  blocks: AsyncIterable<PlanarSamples> | Iterable<PlanarSamples>,
  rate: number,
): AsyncGenerator<PlanarSamples> {
  let resamplers: ReturnType<typeof createResampler>[] | undefined
  for await (const planes of blocks) {
    resamplers ??= planes.map(() => createResampler(rate, SAMPLE_RATE))
    yield planes.map((plane, channel) => resamplers![channel]!.write(plane))
  }
  if (resamplers) yield resamplers.map((resampler) => resampler.flush())
}
