import type { FilePart } from '../containers/links/file-part.ts'
import type { MediaInfo } from '../decoder/decoder-messages.ts'
import type { PlanarSamples } from '../pcm.ts'
import { alignStart } from '../silence.ts'
import { decodeTrack } from './libav-decode.ts'
import { type MediaOpenOptions, openMedia } from './libav-open.ts'

/** The properties of a file and its audio at 16 kHz, decoded by libav. */
export type LibavAudio = { info: MediaInfo; blocks: AsyncIterable<PlanarSamples>; close(): void }

/**
 * Opens a file. Its `links`, if any, are decoded one after the other, with the channel count of the
 * first. The caller closes it.
 */
export async function openLibavAudio(
  path: string,
  { links, ...options }: MediaOpenOptions & { links: readonly FilePart[] },
): Promise<LibavAudio> {
  const { heartbeat } = options
  if (links.length > 0) return openLinks(path, options, links)
  const media = await openMedia(path, options)
  const blocks = alignStart(decodeTrack(media, { heartbeat }), media)
  return { info: media.info, blocks, close: media.close }
}

async function openLinks(
  path: string,
  options: MediaOpenOptions,
  links: readonly FilePart[],
): Promise<LibavAudio> {
  const readable: { part: FilePart; info: MediaInfo }[] = []
  for (const part of links) {
    const media = await openMedia(path, { ...options, part }).catch((error: unknown) => {
      // A recording of a stream may end within the headers of its last link.
      if (readable.length === 0) throw error
    })
    if (!media) continue
    readable.push({ part, info: media.info })
    media.close()
  }
  const [{ info }] = readable as [(typeof readable)[0]]
  const duration = readable.reduce((sum, openedPart) => sum + openedPart.info.duration, 0)
  const { heartbeat } = options
  const { channels } = info

  async function* decodeLinks(): AsyncGenerator<PlanarSamples> {
    for (const { part } of readable) {
      const media = await openMedia(path, { ...options, part })
      try {
        yield* alignStart(decodeTrack(media, { heartbeat, channels }), media)
      } finally {
        media.close()
      }
    }
  }

  return { info: { ...info, duration }, blocks: decodeLinks(), close() {} }
}
