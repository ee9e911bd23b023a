import {
  AV_DISPOSITION_COMMENT,
  AV_DISPOSITION_DEFAULT,
  AV_DISPOSITION_HEARING_IMPAIRED,
  AV_DISPOSITION_VISUAL_IMPAIRED,
  AVMEDIA_TYPE_AUDIO,
} from 'node-av/constants'
import { Codec, type Stream } from 'node-av/lib'
import { AppError } from '../../errors.ts'
import { MAX_CHANNELS, MAX_TRACKS } from '../audio-limits.ts'

/** Tracks that repeat or explain the sound of another one. */
const ACCOMPANYING = [
  AV_DISPOSITION_COMMENT,
  AV_DISPOSITION_HEARING_IMPAIRED,
  AV_DISPOSITION_VISUAL_IMPAIRED,
]

/** The audio tracks of a file. */
export type AudioTracks = {
  /**
   * Those that are read. Professional cameras write a track of one channel for each microphone;
   * these are the channels of one recording. All other files have one.
   */
  read: [Stream, ...Stream[]]
  /** The number of tracks that could be decoded. */
  total: number
}

/**
 * Picks the audio tracks to read: the first one that is marked as default, else the first one that
 * accompanies no other, and if it has one channel, those like it. Throws `media_without_audio` if
 * there is none.
 */
export function pickTracks(streams: readonly Stream[]): AudioTracks {
  if (streams.length > MAX_TRACKS) {
    const supported = `at most ${MAX_TRACKS} are supported`
    throw new AppError('media_unsupported', `${streams.length} tracks; ${supported}`)
  }
  const all = streams.filter(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_AUDIO)
  const decodable = all.filter(({ codecpar }) => Codec.findDecoder(codecpar.codecId) !== null)
  // A file without a decodable track is rejected later, with the name of the codec.
  const tracks = decodable.length > 0 ? decodable : all
  const marked = tracks.filter((track) => track.hasDisposition(AV_DISPOSITION_DEFAULT))
  const main = tracks.filter((track) => !isAccompanying(track))
  const [first, ...others] = [marked, main, tracks].find((some) => some.length > 0) ?? []
  if (!first) throw new AppError('media_without_audio', 'the file holds no audio')
  const channels = others.filter((track) => areOneRecording(first, track))
  return { read: [first, ...channels.slice(0, MAX_CHANNELS - 1)], total: tracks.length }
}

/** Returns whether two tracks are channels of one recording, rather than versions of a sound. */
function areOneRecording(first: Stream, other: Stream): boolean {
  const [a, b] = [first.codecpar, other.codecpar]
  if (a.channels !== 1 || b.channels !== 1 || a.sampleRate !== b.sampleRate) return false
  return !isAccompanying(other) && languageOf(first) === languageOf(other)
}

function isAccompanying(track: Stream): boolean {
  return ACCOMPANYING.some((kind) => track.hasDisposition(kind))
}

function languageOf({ metadata }: Stream): string | undefined {
  const language = metadata?.get('language') ?? 'und'
  return language === 'und' ? undefined : language
}
