import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_NOPTS_VALUE,
  AV_PKT_DATA_SKIP_SAMPLES,
  AVMEDIA_TYPE_VIDEO,
} from 'node-av/constants'
import { avGetCodecName, Codec, type FormatContext, type Packet, type Stream } from 'node-av/lib'
import { AppError } from '../../errors.ts'
import {
  checkAudioFormat,
  checkDeclaredDuration,
  checkLength,
  checkPacketRate,
} from '../audio-limits.ts'
import type { FilePart } from '../containers/links/file-part.ts'
import type { Heartbeat, MediaInfo } from '../decoder/decoder-messages.ts'
import { type AudioTracks, pickTracks } from './audio-tracks.ts'
import { defaultDelay, losesBlock } from './encoder-delay.ts'
import {
  keepTracks,
  openFormat,
  readPackets,
  requireSuccess,
  secondsOfStamp,
} from './libav-demux.ts'

/** A file that contains less than this share of its declared duration is truncated. */
const MIN_DECLARED_SHARE = 0.95

/** An opened file and one of its audio tracks. */
export type OpenedMedia = {
  format: FormatContext
  track: Stream
  /** The index of the track in the file. */
  index: number
  tracks: AudioTracks
  decoder: Codec
  info: MediaInfo
  /**
   * The first packet, which opening the file has read; `readPackets` yields the packets after it.
   */
  firstPacket: Packet
  /**
   * Seconds of silence to insert before the audio: the time of a film starts with its first
   * picture.
   */
  lead: number
  /** Seconds to drop at the start of the decoded audio, which were never recorded. */
  delay: number
  close(): void
}

/** Options for opening a file: what is known about it already. */
export type MediaOpenOptions = {
  demuxer: string
  extension: string
  bytes: number
  /** Limit in seconds for audio whose length must be counted; undefined = no limit. */
  maxSeconds: number | undefined
  heartbeat: Heartbeat
  /** A part of the file that is read as if it were a file. */
  part?: FilePart
  /** The index of the track among `AudioTracks.read`; by default the first of them. */
  channel?: number
}

/** Opens a file with the given demuxer, reads its tracks and picks one. */
export async function openMedia(path: string, options: MediaOpenOptions): Promise<OpenedMedia> {
  const format = openFormat(path, options.demuxer, options.part)
  try {
    // Read before libav reads packets: later its values may be guesses.
    const declaredDurations = format.streams.map(declaredDuration)
    const ofFile =
      format.duration === AV_NOPTS_VALUE ? 0 : Math.max(0, Number(format.duration) / 1e6)
    requireSuccess(format.findStreamInfoSync(null))
    const tracks = pickTracks(format.streams)
    const track = tracks.read[options.channel ?? 0]!
    const declared = { ofFile, ofTrack: declaredDurations[track.index] ?? 0 }
    keepTracks(format, [track.index])
    const firstPacket = await takePacket(format, {
      track: track.index,
      heartbeat: options.heartbeat,
    })
    const { sampleRate, channels, codecId } = track.codecpar
    const codec = codecName(track)
    const decoder = Codec.findDecoder(codecId)
    if (!decoder) throw new AppError('media_undecodable', `no decoder for the codec ${codec}`)
    if (!sampleRate || !channels) {
      throw new AppError('media_undecodable', `no audio found in the ${codec} track`)
    }
    checkAudioFormat({ sampleRate, channels })

    // For a film, libav may return the length of the video; for a chain, that of the last link.
    const hasVideo = format.streams.some(isVideoTrack)
    const isMatroska = options.demuxer === 'matroska'
    const isChain = (options.part?.links ?? 1) > 1
    const hasDeclaredDuration = !isChain && (declared.ofTrack || (declared.ofFile && !hasVideo))
    const measured = hasDeclaredDuration
      ? undefined
      : await measureTracks(path, options, {
          includesVideo: hasVideo && (isMatroska || declared.ofFile > 0),
        })
    const { lead, delay } = startOf(format, { track, tracks, codec, firstPacket, ...measured })
    const isCut = measured && measured.end < MIN_DECLARED_SHARE * declared.ofFile
    const ofTrack = measured ? (isCut ? 0 : measured.duration) : declared.ofTrack
    // Matroska counts from the start of the file, which may be earlier than the first audio.
    const unused = isMatroska ? (secondsOfStamp(track.startTime, track) ?? 0) : 0
    const duration = lead + (ofTrack ? ofTrack - delay : Math.max(0, declared.ofFile - unused))
    checkDeclaredDuration(duration, options.bytes)
    const extension = extensionOf(options.extension, format)
    const info = { extension, duration, channels, sampleRate, codec }
    const close = () => {
      firstPacket.free()
      format.closeInputSync()
    }
    return {
      format,
      track,
      index: track.index,
      tracks,
      decoder,
      firstPacket,
      lead,
      delay,
      info,
      close,
    }
  } catch (error) {
    format.closeInputSync()
    throw error
  }
}

/** Returns the name of the codec of a track, or its tag in the file if libav does not know it. */
function codecName({ codecpar: { codecId, codecTag, codecTagString } }: Stream): string {
  const name = avGetCodecName(codecId) ?? 'none'
  if (name !== 'none') return name
  // Most containers have four characters, WAV and AVI a number.
  return /^[\w -]{4}$/.test(codecTagString ?? '') ? codecTagString! : `0x${codecTag.toString(16)}`
}

async function takePacket(
  format: FormatContext,
  options: { track: number; heartbeat: Heartbeat },
): Promise<Packet> {
  for await (const packet of readPackets(format, options)) {
    const copy = packet.clone()
    if (copy) return copy
  }
  throw new AppError('media_undecodable', 'the audio track is empty')
}

/** Returns the seconds that the header declares for a track; 0 if it declares none. */
function declaredDuration(track: Stream): number {
  return Math.max(0, secondsOfStamp(track.duration, track) ?? 0)
}

/** The lengths of tracks, measured from their packets, in seconds. */
type MeasuredTracks = {
  /** The length of the audio track. */
  duration: number
  /** The end of the track that ends last. */
  end: number
  /** The time of the first picture; undefined if there is none. */
  videoStart: number | undefined
}

/**
 * Measures the tracks of recordings that do not declare the length of their audio, such as those of
 * browsers, elementary streams and many films. Reads their packets, which takes a second for hours
 * of audio, and decodes none. Stops reading a stream that is too long. Pictures take longer to
 * read: they show whether a film is truncated, and when H.264 in Matroska starts.
 */
async function measureTracks(
  path: string,
  {
    demuxer,
    heartbeat,
    maxSeconds = Number.POSITIVE_INFINITY,
    part,
    channel = 0,
  }: MediaOpenOptions,
  { includesVideo }: { includesVideo: boolean },
): Promise<MeasuredTracks> {
  const format = openFormat(path, demuxer, part)
  try {
    requireSuccess(format.findStreamInfoSync(null))
    const track = pickTracks(format.streams).read[channel]!
    if (!includesVideo) keepTracks(format, [track.index])
    const start = secondsOfStamp(track.startTime, track) ?? 0
    let [packets, sum, duration, end] = [0, 0, 0, 0]
    let videoStart: number | undefined
    for await (const packet of readPackets(format, { heartbeat })) {
      const stream = format.streams[packet.streamIndex]!
      const at = secondsOfStamp(packet.pts, stream)
      const length = secondsOfStamp(packet.duration, stream) ?? 0
      end = Math.max(end, (at ?? 0) + length)
      if (isVideoTrack(stream) && at !== undefined) videoStart = Math.min(at, videoStart ?? at)
      if (stream.index !== track.index) continue
      sum += length
      duration = Math.max(duration, (at ?? 0) + length - start)
      checkPacketRate(++packets, Math.max(sum, duration))
      checkLength(sum, maxSeconds)
    }
    return { duration: Math.max(sum, duration), end, videoStart }
  } finally {
    format.closeInputSync()
  }
}

type FirstAudio = { track: Stream; tracks: AudioTracks; codec: string; firstPacket: Packet }

/**
 * Returns the seconds of silence before the audio, and of the decoded audio that was never
 * recorded.
 */
function startOf(
  format: FormatContext,
  { track, tracks, codec, firstPacket, videoStart }: FirstAudio & Partial<MeasuredTracks>,
): Pick<OpenedMedia, 'lead' | 'delay'> {
  const { sampleRate } = track.codecpar
  const isMarked = firstPacket.getSideData(AV_PKT_DATA_SKIP_SAMPLES) !== null
  const delay = isMarked ? 0 : defaultDelay(codec, sampleRate) / sampleRate
  const lost = losesBlock(codec, format.metadata?.get('encoder') ?? '')
  const lostSeconds = lost ? (secondsOfStamp(firstPacket.duration, track) ?? 0) : 0

  const recording = (secondsOfStamp(track.startTime, track) ?? 0) + delay
  const channels = tracks.read.map((s) => (secondsOfStamp(s.startTime, s) ?? 0) + delay)
  const declared = format.streams
    .filter(isVideoTrack)
    .flatMap((s) => secondsOfStamp(s.startTime, s) ?? [])
  // libav has no decoder for pictures here, so it does not know when H.264 in Matroska starts.
  const pictures = videoStart === undefined ? declared : [...declared, videoStart]
  const earliest = Math.min(...channels, ...pictures)
  return { lead: recording - earliest + lostSeconds, delay }
}

/** Returns whether a track is video. A cover picture has a track too, but no time. */
function isVideoTrack(stream: Stream): boolean {
  const { codecType } = stream.codecpar
  return codecType === AVMEDIA_TYPE_VIDEO && !stream.hasDisposition(AV_DISPOSITION_ATTACHED_PIC)
}

function extensionOf(extension: string, format: FormatContext): string {
  return extension === 'wma' && format.streams.some(isVideoTrack) ? 'wmv' : extension
}
