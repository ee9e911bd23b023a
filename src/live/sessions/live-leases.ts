import type { Log } from '../../observability/log.ts'
import { type Db, inTransaction } from '../../storage/database/db.ts'
import { type Lease, renewLease } from '../../storage/jobs/queue/lease.ts'

/** The duration of a lease: two renewals may fail. */
const LEASE_MS = 10_000
const RENEW_INTERVAL_MS = LEASE_MS / 3
/** The number of leases renewed in one transaction: other writers run between two transactions. */
const BATCH = 50

/**
 * A lease that is renewed until it is released. `lost` is aborted when another node has taken the
 * lease; `lose` reports that when it is detected elsewhere first. After `end`, a loss is no longer
 * reported, because the statement that ends the job detects it; renewals continue until the
 * release, because a slow database can take longer than one lease.
 */
export type HeldLease = { lost: AbortSignal; end(): void; release(): void; lose(): void }

type LeaseEntry = { lease: Lease; lost: AbortController; isEnding: boolean }

/** Renews the leases of the sessions that this process runs. */
export class LiveLeases {
  readonly #db: Db
  readonly #log: Log
  readonly #held = new Set<LeaseEntry>()
  #timer: NodeJS.Timeout | undefined

  constructor({ db, log }: { db: Db; log: Log }) {
    this.#db = db
    this.#log = log
  }

  /** Renews a lease from now on, until it is released or lost. */
  hold(lease: Lease): HeldLease {
    const leaseEntry = { lease, lost: new AbortController(), isEnding: false }
    this.#held.add(leaseEntry)
    this.#timer ??= setInterval(() => void this.renew(), RENEW_INTERVAL_MS).unref()
    void this.#renewAll([leaseEntry])
    const release = () => this.#release(leaseEntry)
    const end = () => {
      leaseEntry.isEnding = true
    }
    return { lost: leaseEntry.lost.signal, end, release, lose: () => this.#lose(leaseEntry) }
  }

  /** Renews all leases now. */
  async renew(): Promise<void> {
    const leaseEntries = [...this.#held]
    for (let at = 0; at < leaseEntries.length; at += BATCH)
      await this.#renewAll(leaseEntries.slice(at, at + BATCH))
  }

  #release(leaseEntry: LeaseEntry): void {
    this.#held.delete(leaseEntry)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #renewAll(batch: readonly LeaseEntry[]): Promise<void> {
    try {
      const lost: LeaseEntry[] = []
      await inTransaction(this.#db, async (tx) => {
        for (const leaseEntry of batch)
          if (!(await renewLease(tx, leaseEntry.lease, { leaseMs: LEASE_MS })))
            lost.push(leaseEntry)
      })
      for (const leaseEntry of lost) this.#lose(leaseEntry)
    } catch (error) {
      // A renewal that cannot be written is no loss: no other node has taken the session.
      this.#log.warn({ err: error }, 'cannot renew the leases of live sessions')
    }
  }

  #lose(leaseEntry: LeaseEntry): void {
    if (!this.#held.has(leaseEntry)) return // Released meanwhile: the job has ended.
    this.#release(leaseEntry)
    if (leaseEntry.isEnding) return
    this.#log.warn({ sessionId: leaseEntry.lease.id }, 'another node has taken a live session')
    leaseEntry.lost.abort()
  }
}
