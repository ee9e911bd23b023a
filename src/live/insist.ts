import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'

/** Pauses before a failed call is made again; a process that died is replaced within a second or two. */
const PAUSES_MS = [0, 500, 2000, 5000]

/**
 * Makes a call to the speech engine, and makes it again when its process died: its answer depends on
 * nothing that is lost with the process. Rejects with the last error, or when aborted.
 */
export async function insist<T>(
  call: () => Promise<T>,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<T> {
  for (const pause of PAUSES_MS) {
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      log.warn({ err: error }, 'speech engine failed, asking again')
      await delay(pause, undefined, { signal })
    }
  }
  return call()
}
