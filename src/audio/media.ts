import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { MAX_CHANNELS } from './audio-limits.ts'
import { channelFile } from './channel-files.ts'
import { runDecoder } from './decoder-client.ts'
import { createSemaphore } from './semaphore.ts'

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
  /** Whose file it is: the files of one account wait for each other, not those of others. */
  account?: string | undefined
  signal: AbortSignal
}

/** Options of `probeMedia`. */
export type ProbeMediaOptions = MediaOptions & {
  /** A stream whose length has to be counted is refused when it is longer; undefined = any length. */
  maxSeconds?: number | undefined
  /** Rejects with `too_many_uploads` when many files of the account wait; else it waits behind them. */
  mayRefuse?: boolean
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

/** Options of all media work, the limit, and where progress (0 to 1) goes. */
export type DecodeMediaOptions = MediaOptions & {
  maxSeconds: number
  onProgress?: (fraction: number) => void
}

/** Files of one account that may wait to be looked into: minutes of work, and as many open requests. */
const MAX_WAITING = 100
/** Seconds after which a refused client may well be luckier. */
const RETRY_AFTER = 10

const cores = availableParallelism()
/** A decoder keeps one core busy. Who decodes is decided by the slots of jobs, which accounts share. */
const decoding = createSemaphore({ total: cores, perAccount: cores, maxWaiting: MAX_WAITING })
/**
 * Short questions about a file must not wait behind long recordings, nor behind the files of another
 * account: none has more than half of the places.
 */
const probePlaces = Math.max(2, cores)
const probing = createSemaphore({
  total: probePlaces,
  perAccount: Math.floor(probePlaces / 2),
  maxWaiting: MAX_WAITING,
})

/**
 * Tells what a file holds without decoding it. Rejects with `media_unsupported` for what is no known
 * container, `media_without_audio`, `media_undecodable`, `media_too_long`, or `storage_unreadable`.
 */
export function probeMedia(file: string, options: ProbeMediaOptions): Promise<MediaInfo> {
  const { nameHint, signal, account = '', maxSeconds, mayRefuse = false } = options
  const probe = () => runDecoder({ task: 'probe', file, nameHint, maxSeconds }, { signal })
  return probing(probe, { account, signal, whenFull: mayRefuse ? tooManyUploads : undefined })
}

function tooManyUploads(): AppError {
  const detail = `${MAX_WAITING} uploads of the account wait to be looked into`
  return new AppError('too_many_uploads', detail, { retryAfter: RETRY_AFTER })
}

/**
 * Decodes a file into `folder`: one `ch<n>.pcm` per channel, on the disk when this resolves and gone when
 * it rejects. Beyond the errors of `probeMedia` there are `media_too_long`, `storage_full`, and
 * `engine_failed` when something else ended the decoder: then trying again makes sense.
 */
export async function decodeMedia(
  file: string,
  folder: string,
  { nameHint, signal, account = '', maxSeconds, onProgress }: DecodeMediaOptions,
): Promise<DecodedMedia> {
  const request = { task: 'decode' as const, file, nameHint, folder, maxSeconds }
  try {
    // It must be there before the decoder is, which can write to it alone; what fails shows there.
    await mkdir(folder, { recursive: true }).catch(() => {})
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
