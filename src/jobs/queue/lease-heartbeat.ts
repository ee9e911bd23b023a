import { setInterval as intervals } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { type Lease, renewLease } from '../../storage/jobs/queue/lease.ts'

/** How long a job stays with its owner without a heartbeat. */
export const LEASE_MS = 30_000
/** Two heartbeats may fail before the lease expires. */
const RENEW_INTERVAL_MS = LEASE_MS / 3

/**
 * The reason of an attempt that ends because its job went to another owner: none of its writes
 * would count.
 */
export class LeaseLostError extends Error {}

/** Which lease to keep, and what ends the attempt. */
export type HeartbeatOptions = {
  db: Db
  log: Log
  lease: Lease
  /** Seconds the attempt may take; 0 = no limit. */
  timeoutSeconds: number
  stop: AbortSignal
  renewIntervalMs?: number
}

/** `signal` is aborted when the attempt has to end; its reason says why. */
export type LeaseHeartbeat = {
  signal: AbortSignal
  /** Waits for `work` without a time limit, then starts the time limit anew. */
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
      // A failed renewal does not show that the lease is lost; the next one will tell.
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
