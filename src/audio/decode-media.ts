import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createFairSemaphore } from '../workers/fair-semaphore.ts'
import { MAX_CHANNELS } from './audio-limits.ts'
import { channelFile } from './channels/channel-files.ts'
import { decodedKey, takeDecoded, writeDecoded } from './decoder/decoded-cache.ts'
import { runDecoder } from './decoder/decoder-client.ts'
import { MAX_WAITING_FILES } from './decoder/decoder-limits.ts'
import type { DecodedMedia, DecodedSamples } from './decoder/decoder-messages.ts'
import { decodeShortFile, isShortFile, MAX_SHORT_SECONDS } from './decoder/decoder-pool.ts'
import { SAMPLE_RATE } from './pcm.ts'
import type { MediaOptions } from './probe-media.ts'

/** Options of `decodeMedia`; `onProgress` gets the fraction that is done. */
export type DecodeMediaOptions = MediaOptions & {
  /** A longer file is rejected. */
  maxSeconds: number
  /**
   * The length of the file, if known. A short file is read by a process that is already running.
   */
  seconds?: number | null | undefined
  onProgress?: (fraction: number) => void
}

const cores = availableParallelism()
/**
 * Limits concurrent decoders to the cores, since each keeps one busy. The job slots, which accounts
 * share, decide who decodes.
 */
const withDecodeSlot = createFairSemaphore({
  total: cores,
  perAccount: cores,
  maxWaiting: MAX_WAITING_FILES,
})

/** Decodes a short file in a process that has read other files; undefined if there is none. */
async function decodeShort(
  file: string,
  { nameHint, signal, account = '', maxSeconds, seconds }: DecodeMediaOptions,
): Promise<DecodedSamples | undefined> {
  if (account === '' || (seconds ?? Infinity) > MAX_SHORT_SECONDS || !(await isShortFile(file)))
    return
  const read = () => decodeShortFile(file, { nameHint, maxSeconds, account, signal })
  return (await withDecodeSlot(read, { account, signal }))?.decoded
}

/**
 * Decodes a file into `folder`: one `ch<n>.pcm` per channel, on disk when this resolves and removed
 * when it rejects. In addition to the errors of `probeMedia`, rejects with `storage_full`, and with
 * `engine_failed` when the decoder ended for another reason than the file: a retry may succeed
 * then.
 */
export async function decodeMedia(
  file: string,
  folder: string,
  options: DecodeMediaOptions,
): Promise<DecodedMedia> {
  const { nameHint, signal, account = '', maxSeconds, onProgress } = options
  const request = { task: 'decode' as const, file, nameHint, folder, maxSeconds }
  try {
    // The folder must exist before the decoder starts, which can write only there. The decoder
    // reports an error if the folder could not be created.
    await mkdir(folder, { recursive: true }).catch(() => {})
    const decoded = takeDecoded(decodedKey(file, nameHint)) ?? (await decodeShort(file, options))
    if (decoded && decoded.samples <= maxSeconds * SAMPLE_RATE) {
      const media = await writeDecoded(decoded, folder).catch(() => undefined)
      signal.throwIfAborted()
      if (media) {
        onProgress?.(1)
        return media
      }
    }
    const decode = () => runDecoder(request, { signal, onProgress })
    const media = await withDecodeSlot(decode, { account, signal })
    onProgress?.(1)
    return media
  } catch (error) {
    for (let channel = 0; channel < MAX_CHANNELS; channel++) {
      await rm(join(folder, channelFile(channel)), { force: true })
    }
    throw error
  }
}
