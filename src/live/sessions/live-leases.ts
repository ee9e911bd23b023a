import type { Log } from '../../observability/log.ts'
import { type Db, inTransaction } from '../../storage/database/db.ts'
import { type Lease, renewLease } from '../../storage/jobs/queue/lease.ts'

/** How long a session stays with its server without a renewal: two renewals may fail. */
const LEASE_MS = 10_000
const RENEW_INTERVAL_MS = LEASE_MS / 3
/** Leases that are renewed in one transaction: others can write between two of them. */
const BATCH = 50

/**
 * A lease that is renewed until it is released; `lost` is aborted when another server has it, which
 * `lose` reports if that shows elsewhere first. After `end` a loss is no longer reported: the
 * statement that ends the job detects it. Renewals continue until then, because a slow store can
 * take longer than one lease.
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
    const held = { lease, lost: new AbortController(), isEnding: false }
    this.#held.add(held)
    this.#timer ??= setInterval(() => void this.renew(), RENEW_INTERVAL_MS).unref()
    void this.#renewAll([held])
    const release = () => this.#release(held)
    const end = () => {
      held.isEnding = true
    }
    return { lost: held.lost.signal, end, release, lose: () => this.#lose(held) }
  }

  /** Renews all leases now. */
  async renew(): Promise<void> {
    const held = [...this.#held]
    for (let at = 0; at < held.length; at += BATCH) await this.#renewAll(held.slice(at, at + BATCH))
  }

  #release(held: LeaseEntry): void {
    this.#held.delete(held)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #renewAll(batch: readonly LeaseEntry[]): Promise<void> {
    try {
      const lost: LeaseEntry[] = []
      await inTransaction(this.#db, async (tx) => {
        for (const held of batch)
          if (!(await renewLease(tx, held.lease, { leaseMs: LEASE_MS }))) lost.push(held)
      })
      for (const held of lost) this.#lose(held)
    } catch (error) {
      // A renewal that cannot be written loses nothing: nobody else has taken the session.
      this.#log.warn({ err: error }, 'cannot renew the leases of live sessions')
    }
  }

  #lose(held: LeaseEntry): void {
    if (!this.#held.has(held)) return // Released meanwhile: the job has ended.
    this.#release(held)
    if (held.isEnding) return
    this.#log.warn({ sessionId: held.lease.id }, 'another server has taken a live session')
    held.lost.abort()
  }
}
