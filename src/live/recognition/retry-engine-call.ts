import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'

/**
 * Pauses before a failed call is retried; a process that died is replaced within a second or two.
 */
const PAUSES_MS = [0, 500, 2000, 5000]
/**
 * Pause while the disk is full or no process is available, which passes or is fixed by an operator.
 */
const WAIT_MS = 3000
/** Audio that cannot be read for this many such pauses (five minutes) is considered lost. */
const MAX_UNREADABLE = 100

/** Options of a retried call. */
export type RetryEngineOptions = { signal: AbortSignal; log: Log; waitMs?: number }

/**
 * Calls the speech engine, and retries when the call fails: the result does not depend on state
 * that is lost with a process. Gives up a call whose processes keep dying, since the call may be
 * the cause, and one whose audio stays unreadable; retries any other failure for as long as the
 * session lives.
 */
export async function retryEngineCall<T>(
  call: () => Promise<T>,
  { signal, log, waitMs = WAIT_MS }: RetryEngineOptions,
): Promise<T> {
  for (let crashes = 0, unreadable = 0; ; ) {
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      const isCrash = error.code === 'engine_failed'
      if (isCrash && crashes === PAUSES_MS.length) throw error
      if (error.code === 'storage_unreadable' && unreadable++ === MAX_UNREADABLE) throw error
      log.warn({ err: error }, 'speech engine failed, retrying')
      await delay(isCrash ? PAUSES_MS[crashes++] : waitMs, undefined, { signal })
    }
  }
}
