import { setInterval as intervals } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { type Lease, renewLease } from '../../storage/jobs/queue/lease.ts'

/** The duration of a lease: without a heartbeat, the job returns to the queue after this time. */
export const LEASE_MS = 30_000
/** Two heartbeats may fail before the lease expires. */
const RENEW_INTERVAL_MS = LEASE_MS / 3

/**
 * The reason why an attempt ends whose job has another owner now: the database would refuse its
 * writes.
 */
export class LeaseLostError extends Error {}

/** The lease to renew, and the limits of the attempt. */
export type HeartbeatOptions = {
  db: Db
  log: Log
  lease: Lease
  /** Seconds the attempt may take; 0 = no limit. */
  timeoutSeconds: number
  stop: AbortSignal
  renewIntervalMs?: number
}

/**
 * The heartbeat of an attempt. `signal` is aborted when the attempt has to end; its reason is the
 * error.
 */
export type LeaseHeartbeat = {
  signal: AbortSignal
  /** Waits for `work` without a time limit, then restarts the time limit. */
  withFreshTimeLimit(work: Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Renews the lease of an attempt. Ends the attempt when the lease is lost or the time is up. */
export function startHeartbeat(options: HeartbeatOptions): LeaseHeartbeat {
  const { timeoutSeconds, stop } = options
  const abort = new AbortController()
  const closed = new AbortController()
  const renewing = renewLeaseLoop(options, { abort, closed: closed.signal })
  const timeoutDetail = `it took longer than ${timeoutSeconds} s (STENO_JOB_TIMEOUT_S)`
  const timeoutError = new AppError('job_timeout', timeoutDetail)
  const startTimer = () =>
    timeoutSeconds > 0
      ? setTimeout(() => abort.abort(timeoutError), timeoutSeconds * 1000)
      : undefined
  let timer = startTimer()
  return {
    signal: AbortSignal.any([stop, abort.signal]),
    async withFreshTimeLimit(work) {
      clearTimeout(timer)
      await work
      timer = startTimer()
    },
    async close() {
      clearTimeout(timer)
      closed.abort()
      await renewing
    },
  }
}

async function renewLeaseLoop(
  { db, log, lease, renewIntervalMs = RENEW_INTERVAL_MS }: HeartbeatOptions,
  { abort, closed }: { abort: AbortController; closed: AbortSignal },
): Promise<void> {
  try {
    for await (const _ of intervals(renewIntervalMs, undefined, { signal: closed })) {
      // A failed renewal does not mean that the lease is lost; the next one decides.
      const isLeased = await renewLease(db, lease, { leaseMs: LEASE_MS }).catch((error) => {
        log.warn({ err: error }, 'lease not renewed')
        return true
      })
      if (!isLeased) abort.abort(new LeaseLostError())
    }
  } catch (error) {
    if (!closed.aborted) throw error
  }
}
