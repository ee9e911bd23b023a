import type { FilePart } from '../containers/links/file-part.ts'
import type { MediaInfo } from '../decoder/decoder-messages.ts'
import type { PlanarSamples } from '../pcm.ts'
import { alignStart } from '../silence.ts'
import { decodeChannels, decodeTrack } from './decode-tracks.ts'
import { Libav } from './libav.ts'
import { MediaInput } from './media-input.ts'
import { type MediaOpenOptions, type OpenedMedia, openMedia } from './open-media.ts'

/** The properties of a file and its audio at 16 kHz, decoded by libav. */
export type LibavAudio = {
  info: MediaInfo
  /** The number of audio tracks that are not read. */
  unreadTracks: number
  blocks: AsyncIterable<PlanarSamples>
  close(): void
}

/**
 * Opens a file. Its `links`, if any, are decoded one after the other, with the channel count of the
 * first. Tracks that are channels of one recording are decoded together. The caller closes it.
 */
export async function openLibavAudio(
  path: string,
  { links, ...options }: MediaOpenOptions & { links: readonly FilePart[] },
): Promise<LibavAudio> {
  const libav = new Libav()
  const { heartbeat } = options
  if (links.length > 0) return openLinks(libav, path, options, links)
  const media = await openMedia(libav, path, options)
  const { input, info, tracks } = media
  if (tracks.read.length > 1) return openChannels(libav, path, options, media)
  const blocks = alignStart(decodeTrack(media, { heartbeat }), media)
  return { info, unreadTracks: tracks.total - 1, blocks, close: () => input.close() }
}

/**
 * Opens the tracks that are channels of one recording, one after the other, because the index of a
 * long film takes memory; then reads them together. A track that cannot be decoded is left out.
 */
async function openChannels(
  libav: Libav,
  path: string,
  options: MediaOpenOptions,
  first: OpenedMedia,
): Promise<LibavAudio> {
  const opened = [first]
  first.input.close()
  for (let channel = 1; channel < first.tracks.read.length; channel++) {
    const media = await openMedia(intact(libav), path, { ...options, channel }).catch(
      () => undefined,
    )
    media?.input.close()
    if (media) opened.push(media)
  }
  const input = new MediaInput(intact(libav), path, options)
  try {
    input.findTracks()
    const tracks = opened.map(({ track, lead, delay, end, info }) => {
      return { track, lead, delay, end, duration: info.duration }
    })
    input.keepTracks(tracks.map(({ track }) => track.index))
    const duration = Math.max(...tracks.map((track) => track.duration))
    return {
      info: { ...first.info, duration, channels: tracks.length },
      unreadTracks: first.tracks.total - tracks.length,
      blocks: decodeChannels(input, { tracks, heartbeat: options.heartbeat }),
      close: () => input.close(),
    }
  } catch (error) {
    input.close()
    throw error
  }
}

/** Returns an instance that has not crashed: what one part of a file did harms no other. */
function intact(libav: Libav): Libav {
  return libav.hasCrashed ? new Libav() : libav
}

async function openLinks(
  libav: Libav,
  path: string,
  options: MediaOpenOptions,
  links: readonly FilePart[],
): Promise<LibavAudio> {
  const readable: { part: FilePart; info: MediaInfo }[] = []
  for (const part of links) {
    const media = await openMedia(intact(libav), path, { ...options, part }).catch(
      (error: unknown) => {
        // A recording of a stream may end within the headers of its last link.
        if (readable.length === 0) throw error
      },
    )
    if (!media) continue
    readable.push({ part, info: media.info })
    media.input.close()
  }
  const [{ info }] = readable as [(typeof readable)[0]]
  const duration = readable.reduce((sum, openedPart) => sum + openedPart.info.duration, 0)
  const { heartbeat } = options
  const { channels } = info

  async function* decodeLinks(): AsyncGenerator<PlanarSamples> {
    for (const { part } of readable) {
      const media = await openMedia(intact(libav), path, { ...options, part })
      try {
        yield* alignStart(decodeTrack(media, { heartbeat, channels }), media)
      } finally {
        media.input.close()
      }
    }
  }

  return { info: { ...info, duration }, unreadTracks: 0, blocks: decodeLinks(), close() {} }
}
