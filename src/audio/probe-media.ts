import { availableParallelism } from 'node:os'
import { AppError } from '../errors.ts'
import { createFairSemaphore } from '../workers/fair-semaphore.ts'
import { decodedKey, keepDecoded } from './decoder/decoded-cache.ts'
import { runDecoder } from './decoder/decoder-client.ts'
import { MAX_WAITING_FILES } from './decoder/decoder-limits.ts'
import type { MediaInfo, ProbeRequest } from './decoder/decoder-messages.ts'
import { decodeShortFile, isShortFile } from './decoder/decoder-pool.ts'

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
  failsWhenBusy?: boolean
}

/** Seconds after which a retry of a rejected client is likely to succeed. */
const RETRY_AFTER = 10

/**
 * Limits concurrent probes. They must not wait behind long recordings, nor behind the files of
 * another account: no account has more than half of the slots.
 */
const probeSlots = Math.max(2, availableParallelism())
const withProbeSlot = createFairSemaphore({
  total: probeSlots,
  perAccount: Math.floor(probeSlots / 2),
  maxWaiting: MAX_WAITING_FILES,
})

/**
 * Returns the properties of a file without decoding it. Rejects with `media_unsupported` for an
 * unknown container, `media_without_audio`, `media_undecodable`, `media_too_long`,
 * `storage_unreadable`, or `engine_failed` when two decoders ended for another reason than the
 * file.
 */
export function probeMedia(file: string, options: ProbeMediaOptions): Promise<MediaInfo> {
  const { nameHint, signal, account = '', maxSeconds, failsWhenBusy = false } = options
  const probe = async () => {
    const short = { nameHint, maxSeconds, account, signal }
    const media =
      account !== '' && (await isShortFile(file)) && (await decodeShortFile(file, short))
    if (!media) return probeInOwnProcess({ task: 'probe', file, nameHint, maxSeconds }, signal)
    if (media.decoded) keepDecoded(decodedKey(file, nameHint), media.decoded)
    return media.info
  }
  return withProbeSlot(probe, {
    account,
    signal,
    whenFull: failsWhenBusy ? tooManyUploads : undefined,
  })
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

function tooManyUploads(): AppError {
  const detail = `${MAX_WAITING_FILES} uploads of the account wait to be probed`
  return new AppError('too_many_uploads', detail, { retryAfter: RETRY_AFTER })
}
