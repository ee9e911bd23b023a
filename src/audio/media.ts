import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { channelFile } from './channel-files.ts'
import { runDecoder } from './decoder-client.ts'
import { createGate } from './gate.ts'
import { MAX_CHANNELS } from './sound-limits.ts'

/** What a recording is. `extension` is the detected container in lower case; `duration` is seconds. */
export type MediaInfo = {
  extension: string
  duration: number
  channels: number
  sampleRate: number
  codec: string
}

/** What is known of a file beforehand, and what stops the work. */
export type MediaOptions = {
  /** The name the file came with; it only decides between encodings without a header. */
  nameHint?: string | undefined
  signal: AbortSignal
}

/** One channel of the recording as a file of 16-bit little-endian samples at 16 kHz. */
export type DecodedChannel = {
  channel: number
  path: string
  samples: number
  /** The lowest channel with the same sound, if there is one below. */
  sameAs: number | null
}

/** A decoded recording; `duration` is seconds. */
export type DecodedMedia = { duration: number; channels: DecodedChannel[] }

/** Options of `probeMedia`, the limit, and where progress (0 to 1) goes. */
export type DecodeMediaOptions = MediaOptions & {
  maxSeconds: number
  onProgress?: (fraction: number) => void
}

/** A decoder keeps one core busy. Short questions about a file must not wait behind long recordings. */
const decoding = createGate(availableParallelism())
const probing = createGate(availableParallelism())

/**
 * Tells what a file holds without decoding it. Rejects with `media_unsupported` for what is no known
 * container, `media_without_audio`, `media_undecodable`, or `storage_unreadable`.
 */
export function probeMedia(file: string, options: MediaOptions): Promise<MediaInfo> {
  const { nameHint, signal } = options
  const probe = () => runDecoder({ task: 'probe', file, nameHint }, { signal })
  return probing(probe, signal)
}

/**
 * Decodes a file into `folder`: one `ch<n>.pcm` per channel, on the disk when this resolves and gone when
 * it rejects. Beyond the errors of `probeMedia` there are `media_too_long`, `storage_full`, and
 * `engine_failed` when something else ended the decoder: then trying again makes sense.
 */
export async function decodeMedia(
  file: string,
  folder: string,
  { nameHint, signal, maxSeconds, onProgress }: DecodeMediaOptions,
): Promise<DecodedMedia> {
  const request = { task: 'decode' as const, file, nameHint, folder, maxSeconds }
  try {
    const media = await decoding(() => runDecoder(request, { signal, onProgress }), signal)
    onProgress?.(1)
    return media
  } catch (error) {
    for (let channel = 0; channel < MAX_CHANNELS; channel++) {
      await rm(join(folder, channelFile(channel)), { force: true })
    }
    throw error
  }
}
