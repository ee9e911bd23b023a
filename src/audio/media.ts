import { mkdir, rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { createFairSemaphore } from '../workers/fair-semaphore.ts'
import { MAX_CHANNELS } from './audio-limits.ts'
import { channelFile } from './channels/channel-files.ts'
import { keepDecoded, takeDecoded, writeDecoded } from './decoder/decoded-cache.ts'
import { runDecoder } from './decoder/decoder-client.ts'
import type {
  DecodedMedia,
  DecodedSamples,
  MediaInfo,
  ProbeRequest,
} from './decoder/decoder-messages.ts'
import { decodeShortFile, MAX_SECONDS } from './decoder/decoder-pool.ts'
import { SAMPLE_RATE } from './pcm.ts'

/** The hints about a file, and the signal that cancels the work. */
export type MediaOptions = {
  /** The original name of the file; it only decides between encodings without a header. */
  nameHint?: string | undefined
  /**
   * The account of the file: the files of one account wait for each other, not for those of others.
   */
  account?: string | undefined
  signal: AbortSignal
}

/** Options of `probeMedia`. */
export type ProbeMediaOptions = MediaOptions & {
  /**
   * A stream whose length has to be counted is rejected if it is longer; undefined = any length.
   */
  maxSeconds?: number | undefined
  /**
   * Rejects with `too_many_uploads` when many files of the account wait; otherwise the file waits
   * for its turn.
   */
  mayRefuse?: boolean
}

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

/**
 * Maximum files of one account that wait for a probe: they mean minutes of work and as many
 * requests.
 */
const MAX_WAITING = 100
/** Larger files are not read as short ones; nearly all short recordings are smaller. */
const MAX_SMALL_BYTES = 6_000_000
/** Seconds after which a retry of a rejected client is likely to succeed. */
const RETRY_AFTER = 10

const cores = availableParallelism()
/**
 * Limits concurrent decoders to the cores, since each keeps one busy. The job slots, which accounts
 * share, decide who decodes.
 */
const decoding = createFairSemaphore({ total: cores, perAccount: cores, maxWaiting: MAX_WAITING })
/**
 * Limits concurrent probes. They must not wait behind long recordings, nor behind the files of
 * another account: no account has more than half of the slots.
 */
const probeSlots = Math.max(2, cores)
const probing = createFairSemaphore({
  total: probeSlots,
  perAccount: Math.floor(probeSlots / 2),
  maxWaiting: MAX_WAITING,
})

/**
 * Returns the properties of a file without decoding it. Rejects with `media_unsupported` for an
 * unknown container, `media_without_audio`, `media_undecodable`, `media_too_long`,
 * `storage_unreadable`, or `engine_failed` when two decoders ended for another reason than the
 * file.
 */
export function probeMedia(file: string, options: ProbeMediaOptions): Promise<MediaInfo> {
  const { nameHint, signal, account = '', maxSeconds, mayRefuse = false } = options
  const probe = async () => {
    const short = { nameHint, maxSeconds, account, signal }
    const media = account !== '' && (await isSmall(file)) && (await decodeShortFile(file, short))
    if (!media) return probeInOwnProcess({ task: 'probe', file, nameHint, maxSeconds }, signal)
    if (media.decoded) keepDecoded(decodedKey(file, nameHint), media.decoded)
    return media.info
  }
  return probing(probe, { account, signal, whenFull: mayRefuse ? tooManyUploads : undefined })
}

/**
 * Runs a probe in a process of its own, and retries it once if its decoder ended for another reason
 * than the file, because a client waits.
 */
async function probeInOwnProcess(request: ProbeRequest, signal: AbortSignal): Promise<MediaInfo> {
  try {
    return await runDecoder(request, { signal })
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError) || error.code !== 'engine_failed')
      throw error
    return runDecoder(request, { signal })
  }
}

async function isSmall(file: string): Promise<boolean> {
  const fileStat = await stat(file).catch(() => undefined)
  return fileStat?.isFile() === true && fileStat.size <= MAX_SMALL_BYTES
}

/** Decodes a short file in a process that has read other files; undefined if there is none. */
async function decodeShort(
  file: string,
  { nameHint, signal, account = '', maxSeconds, seconds }: DecodeMediaOptions,
): Promise<DecodedSamples | undefined> {
  if (account === '' || (seconds ?? Infinity) > MAX_SECONDS || !(await isSmall(file))) return
  const read = () => decodeShortFile(file, { nameHint, maxSeconds, account, signal })
  return (await decoding(read, { account, signal }))?.decoded
}

/**
 * Returns the key of a decoded file. It contains the name, which decides how a file without a
 * header is read.
 */
function decodedKey(file: string, nameHint: string | undefined): string {
  return JSON.stringify([file, nameHint])
}

function tooManyUploads(): AppError {
  const detail = `${MAX_WAITING} uploads of the account wait to be looked into`
  return new AppError('too_many_uploads', detail, { retryAfter: RETRY_AFTER })
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
    const media = await decoding(decode, { account, signal })
    onProgress?.(1)
    return media
  } catch (error) {
    for (let channel = 0; channel < MAX_CHANNELS; channel++) {
      await rm(join(folder, channelFile(channel)), { force: true })
    }
    throw error
  }
}
