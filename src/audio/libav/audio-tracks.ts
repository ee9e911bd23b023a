import { AppError } from '../../errors.ts'
import { MAX_CHANNELS, MAX_TRACKS } from '../audio-limits.ts'
import type { Track } from './media-input.ts'

/** The audio tracks of a file. */
export type AudioTracks = {
  /**
   * Those that are read. Professional cameras write a track of one channel for each microphone;
   * these are the channels of one recording. All other files have one.
   */
  read: [Track, ...Track[]]
  /** The number of tracks that could be decoded. */
  total: number
}

/**
 * Picks the audio tracks to read: the first one that is marked as default, else the first one that
 * accompanies no other, and if it has one channel, those like it. Throws `media_without_audio` if
 * there is none.
 */
export function pickTracks(all: readonly Track[]): AudioTracks {
  if (all.length > MAX_TRACKS) {
    const supported = `at most ${MAX_TRACKS} are supported`
    throw new AppError('media_unsupported', `${all.length} tracks; ${supported}`)
  }
  const audio = all.filter(({ kind }) => kind === 'audio')
  const decodable = audio.filter(({ isDecodable }) => isDecodable)
  // A file without a decodable track is rejected later, with the name of the codec.
  const tracks = decodable.length > 0 ? decodable : audio
  const marked = tracks.filter(({ isDefault }) => isDefault)
  const main = tracks.filter(({ isAccompanying }) => !isAccompanying)
  const [first, ...others] = [marked, main, tracks].find((some) => some.length > 0) ?? []
  if (!first) throw new AppError('media_without_audio', 'the file holds no audio')
  const channels = others.filter((track) => areOneRecording(first, track))
  return { read: [first, ...channels.slice(0, MAX_CHANNELS - 1)], total: tracks.length }
}

/** Returns whether two tracks are channels of one recording, rather than versions of a sound. */
function areOneRecording(first: Track, other: Track): boolean {
  if (first.channels !== 1 || other.channels !== 1) return false
  if (first.sampleRate !== other.sampleRate || other.isAccompanying) return false
  return languageOf(first) === languageOf(other)
}

function languageOf({ language }: Track): string | undefined {
  return language === 'und' ? undefined : language
}
