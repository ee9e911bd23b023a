import {
  AV_LOG_QUIET,
  AV_NOPTS_VALUE,
  AVDISCARD_ALL,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
} from 'node-av/constants'
import {
  Codec,
  Dictionary,
  FFmpegError,
  FormatContext,
  InputFormat,
  Log,
  Packet,
  type Stream,
} from 'node-av/lib'
import { AppError } from '../../errors.ts'
import { MAX_TRACKS } from '../audio-limits.ts'
import type { FilePart } from '../containers/links/file-part.ts'
import type { Heartbeat } from '../decoder/decoder-messages.ts'

Log.setLevel(AV_LOG_QUIET)

/** The number of consecutive errors after which a damaged file is considered to have ended. */
const MAX_READ_ERRORS = 50
/** The number of packets that are read between two heartbeats, which takes a few milliseconds. */
const PACKETS_PER_HEARTBEAT = 2000

/**
 * The names of all audio decoders. Pictures are never decoded, not even to get their size: a header
 * may declare gigabytes of them.
 */
const audioDecoders = Codec.getCodecList()
  .filter((codec) => codec.type === AVMEDIA_TYPE_AUDIO && codec.isDecoder())
  .map((codec) => codec.name)
  .join(',')

/**
 * Opens a file, or a part of it, with one demuxer and no other. `file:` prevents a colon in the
 * path from being read as a protocol, and no other protocol is allowed but that of parts. The
 * caller closes with `closeInputSync()`.
 */
export function openFormat(path: string, demuxer: string, part?: FilePart): FormatContext {
  const inputFormat = InputFormat.findInputFormat(demuxer)
  if (!inputFormat) throw new AppError('media_undecodable', `the decoder lacks ${demuxer}`)
  const format = new FormatContext()
  const options = Dictionary.fromObject({
    protocol_whitelist: part ? 'file,subfile' : 'file',
    codec_whitelist: audioDecoders,
    // One more track than supported, so that a file with too many is rejected for this reason.
    max_streams: `${MAX_TRACKS + 1}`,
  })
  const prefix = part ? `subfile,,start,${part.start},end,${part.end},,:` : ''
  requireSuccess(format.openInputSync(`${prefix}file:${path}`, inputFormat, options))
  return format
}

/** Plain descriptions of libav's errors. */
const REASONS: Readonly<Record<string, string>> = {
  'Invalid data found when processing input': 'the file is damaged, or cut off before its end',
  'End of file': 'the file is cut off before its end',
}

/** Throws `media_undecodable` for a negative return code of libav. */
export function requireSuccess(code: number): void {
  if (code >= 0) return
  const reason = FFmpegError.strerror(code)
  throw new AppError('media_undecodable', REASONS[reason] ?? reason)
}

/** Returns the seconds of a time stamp of `stream`; undefined when it has none. */
export function secondsOfStamp(stamp: bigint, stream: Stream): number | undefined {
  if (stamp === AV_NOPTS_VALUE) return undefined
  const { num, den } = stream.timeBase
  return (Number(stamp) * num) / den
}

/** Makes the demuxer skip all other tracks: pictures are most of a film, and nothing needs them. */
export function keepTracks(format: FormatContext, indexes: readonly number[]): void {
  for (const stream of format.streams) {
    if (!indexes.includes(stream.index)) stream.discard = AVDISCARD_ALL
  }
}

/**
 * Yields the packets of one track, or of all, and skips damaged parts. Each packet is valid until
 * the next one is read.
 */
export async function* readPackets(
  format: FormatContext,
  { track, heartbeat }: { track?: number; heartbeat: Heartbeat },
): AsyncGenerator<Packet> {
  const packet = new Packet()
  packet.alloc()
  let errors = 0
  try {
    for (let count = 1; errors < MAX_READ_ERRORS; count++) {
      if (count % PACKETS_PER_HEARTBEAT === 0) await heartbeat()
      const code = format.readFrameSync(packet)
      if (code === AVERROR_EOF) return
      errors = code < 0 ? errors + 1 : 0
      if (code >= 0 && (track === undefined || packet.streamIndex === track)) yield packet
      packet.unref()
    }
  } finally {
    packet.free()
  }
}
