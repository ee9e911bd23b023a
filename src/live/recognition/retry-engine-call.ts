import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'

/** Pauses before a call that failed is made again; a process that died is replaced within a second or two. */
const PAUSES_MS = [0, 500, 2000, 5000]
/** Pause while the disk is full or no process can be had: that passes, or somebody will see to it. */
const WAIT_MS = 3000

/** What is insisted with. */
export type RetryEngineOptions = { signal: AbortSignal; log: Log; waitMs?: number }

/**
 * Makes a call to the speech engine, and makes it again when it failed: its answer depends on nothing that
 * is lost with a process. A call whose processes die time after time is given up, for it may be the cause
 * of it; for anything else it is waited as long as the session lives.
 */
export async function retryEngineCall<T>(
  call: () => Promise<T>,
  { signal, log, waitMs = WAIT_MS }: RetryEngineOptions,
): Promise<T> {
  for (let deaths = 0; ; ) {
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      const isDeath = error.code === 'engine_failed'
      if (isDeath && deaths === PAUSES_MS.length) throw error
      log.warn({ err: error }, 'speech engine failed, asking again')
      await delay(isDeath ? PAUSES_MS[deaths++] : waitMs, undefined, { signal })
    }
  }
}
