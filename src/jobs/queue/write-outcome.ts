import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { hasEnded } from '../../storage/jobs/finish-job.ts'
import type { Lease } from '../../storage/jobs/queue/lease.ts'

/** Delay before retrying a write that the database refused. */
const WRITE_PAUSE_MS = 1000

/** The dependencies of writing the outcome of an attempt. */
export type OutcomeDeps = {
  db: Db
  log: Log
  /**
   * Aborted when the server stops. The job then returns to the queue as if the attempt had not been
   * made.
   */
  stop: AbortSignal
  /** For tests: waits before the database is retried; defaults to the system clock. */
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** Returns whether a write that failed with this error must not be retried. */
type IsFatal = (error: unknown) => boolean

/**
 * Retries a query for as long as the database refuses it. When the server stops, rejects; the next
 * process then handles the job.
 */
export async function untilWritten(
  { log, stop, pause = (ms, signal) => delay(ms, undefined, { signal }) }: OutcomeDeps,
  write: () => Promise<boolean>,
  { isFatal = () => false }: { isFatal?: IsFatal | undefined } = {},
): Promise<boolean> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (isFatal(error) || stop.aborted) throw error
      log.error({ err: error }, 'cannot store the outcome of a job, retrying')
      await pause(WRITE_PAUSE_MS, stop)
    }
  }
}

/** How a job ends, and the statement that ends it under its lease. */
export type JobEnding = {
  status: 'done' | 'error'
  /** Resolves to false if the lease was lost. */
  write: () => Promise<boolean>
  isFatal?: IsFatal
  /** Called if the job has certainly not ended this way. */
  onNotEnded?: () => Promise<void>
}

/**
 * Ends a job, with the retries of `untilWritten`. If the response to a write is lost, the next one
 * finds the job ended and is no failure. Returns false if the lease was lost.
 */
export async function writeEnding(
  deps: OutcomeDeps,
  lease: Lease,
  { status, write, isFatal, onNotEnded }: JobEnding,
): Promise<boolean> {
  const { db } = deps
  let mayHaveEnded = false
  const writeOnce = async () => {
    try {
      return (await write()) || (mayHaveEnded && (await hasEnded(db, lease, status)))
    } catch (error) {
      mayHaveEnded ||= db.dialect.isOutcomeUnknown(error)
      throw error
    }
  }
  try {
    mayHaveEnded = await untilWritten(deps, writeOnce, { isFatal })
    return mayHaveEnded
  } finally {
    if (!mayHaveEnded) await onNotEnded?.()
  }
}
