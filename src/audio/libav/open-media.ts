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
import type { Libav } from './libav.ts'
import { MediaInput, type Packet, type Track } from './media-input.ts'

/** A file that contains less than this share of its declared duration is truncated. */
const MIN_DECLARED_SHARE = 0.95

/** The demuxers of MPEG streams. */
const MPEG = ['mpegts', 'mpeg']
/**
 * The seconds after which a gap in an MPEG stream is none: its clock was set anew, because
 * recordings were joined. Each has a clock that begins anywhere within 26 hours.
 */
const MAX_MPEG_GAP = 3600

/** An opened file and one of its audio tracks. */
export type OpenedMedia = {
  /** The file, of which the first packet of the track is read. */
  input: MediaInput
  track: Track
  tracks: AudioTracks
  info: MediaInfo
  /**
   * Seconds of silence to insert before the audio: the time of a film starts with its first
   * picture.
   */
  lead: number
  /** Seconds to drop at the start of the decoded audio, which were never recorded. */
  delay: number
  /** See `TrackDecoderOptions`. */
  end: number | undefined
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

/** Opens a file with the given demuxer, reads its tracks and picks one. The caller closes it. */
export async function openMedia(
  libav: Libav,
  path: string,
  options: MediaOpenOptions,
): Promise<OpenedMedia> {
  const input = new MediaInput(libav, path, options)
  try {
    // Read before libav reads packets: later its values may be guesses.
    const declaredDurations = input.tracks().map((track) => Math.max(0, track.duration ?? 0))
    const ofFile = input.duration
    input.findTracks()
    const tracks = pickTracks(input.tracks())
    const track = tracks.read[options.channel ?? 0]!
    const declared = { ofFile, ofTrack: declaredDurations[track.index] ?? 0 }
    input.keepTracks([track.index])
    const firstPacket = await takePacket(input, track, options.heartbeat)
    checkTrack(track)

    // For a film, libav may return the length of the video; for a chain, that of the last link.
    const hasVideo = input.tracks().some(isVideoTrack)
    const isMatroska = options.demuxer === 'matroska'
    const isChain = (options.part?.links ?? 1) > 1
    // Matroska files may count their length from the start of the file, or from the first audio.
    const isLate = isMatroska && (input.tracks()[track.index]!.start ?? 0) > 0
    const isOfFile = declared.ofFile > 0 && !hasVideo && !isLate
    const hasDeclaredDuration = !isChain && (declared.ofTrack > 0 || isOfFile)
    const measured = hasDeclaredDuration
      ? undefined
      : await measureTracks(libav, path, options, {
          includesVideo: hasVideo && (isMatroska || declared.ofFile > 0),
        })
    const { lead, delay } = startOf(input, { track, tracks, firstPacket, ...measured })
    const isCut = measured && measured.end < MIN_DECLARED_SHARE * declared.ofFile
    const ofTrack = measured ? (isCut ? 0 : measured.duration) : declared.ofTrack
    const unused = isMatroska ? (input.tracks()[track.index]!.start ?? 0) : 0
    const ofAudio = ofTrack ? ofTrack - delay : declared.ofFile - unused
    const duration = lead + Math.max(0, ofAudio)
    checkDeclaredDuration(duration, options.bytes)
    const end = options.demuxer === 'mov' && declared.ofTrack > 0 ? declared.ofTrack : undefined
    const extension = options.extension === 'wma' && hasVideo ? 'wmv' : options.extension
    const { channels, sampleRate, codec } = track
    return {
      input,
      track,
      tracks,
      lead,
      delay,
      end,
      info: { extension, duration, channels, sampleRate, codec },
    }
  } catch (error) {
    input.close()
    throw error
  }
}

function checkTrack({ codec, isDecodable, sampleRate, channels }: Track): void {
  if (!isDecodable) throw new AppError('media_undecodable', `no decoder for the codec ${codec}`)
  if (!sampleRate || !channels) {
    throw new AppError('media_undecodable', `no audio found in the ${codec} track`)
  }
  checkAudioFormat({ sampleRate, channels })
}

async function takePacket(
  input: MediaInput,
  { index: track }: Track,
  heartbeat: Heartbeat,
): Promise<Packet> {
  for await (const packet of input.packets({ track, heartbeat })) return packet
  throw new AppError('media_undecodable', 'the audio track is empty')
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
  libav: Libav,
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
  const input = new MediaInput(libav, path, { demuxer, part })
  try {
    input.findTracks()
    const tracks = input.tracks()
    const track = pickTracks(tracks).read[channel]!
    if (!includesVideo) input.keepTracks([track.index])
    const longestGap = MPEG.includes(demuxer) ? MAX_MPEG_GAP : Number.POSITIVE_INFINITY
    let first = track.start ?? 0
    let expected = first
    let [packets, sum, duration, end] = [0, 0, 0, 0]
    let videoStart: number | undefined
    for await (const packet of input.packets({ heartbeat })) {
      const { start, duration: length } = packet
      end = Math.max(end, (start ?? 0) + length)
      if (start !== undefined && tracks[packet.track] && isVideoTrack(tracks[packet.track]!))
        videoStart = Math.min(start, videoStart ?? start)
      if (packet.track !== track.index) continue
      sum += length
      if (start !== undefined && start - expected > longestGap) first += start - expected
      expected = (start ?? expected) + length
      duration = Math.max(duration, (start ?? 0) + length - first)
      checkPacketRate(++packets, Math.max(sum, duration))
      checkLength(sum, maxSeconds)
    }
    return { duration: Math.max(sum, duration), end, videoStart }
  } finally {
    input.close()
  }
}

type FirstAudio = { track: Track; tracks: AudioTracks; firstPacket: Packet }

/**
 * Returns the seconds of silence before the audio, and of the decoded audio that was never
 * recorded.
 */
function startOf(
  input: MediaInput,
  { track, tracks, firstPacket, videoStart }: FirstAudio & Partial<MeasuredTracks>,
): Pick<OpenedMedia, 'lead' | 'delay'> {
  const { codec, sampleRate } = track
  const delay = firstPacket.isTrimmed ? 0 : defaultDelay(codec, sampleRate) / sampleRate
  const lost = losesBlock(codec, input.encoder ?? '') ? firstPacket.duration : 0

  const now = input.tracks()
  const startOfAudio = ({ index }: Track) => (now[index]!.start ?? 0) + delay
  const declared = now.filter(isVideoTrack).flatMap(({ start }) => start ?? [])
  // libav has no decoder for pictures here, so it does not know when H.264 in Matroska starts.
  const pictures = videoStart === undefined ? declared : [...declared, videoStart]
  const earliest = Math.min(...tracks.read.map(startOfAudio), ...pictures)
  return { lead: startOfAudio(track) - earliest + lost, delay }
}

/** Returns whether a track is video. A cover picture has a track too, but no time. */
function isVideoTrack({ kind, isPicture }: Track): boolean {
  return kind === 'video' && !isPicture
}
