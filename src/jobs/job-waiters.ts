import type { Db } from '../storage/database/db.ts'
import { filterActiveJobs } from '../storage/jobs/jobs.ts'

/** The interval of checks: another node may end a job without notifying this one. */
const POLL_MS = 1000

type Wait = { id: string; resolve: () => void; reject: (error: unknown) => void }

/**
 * Waits for jobs to end, on behalf of many callers; each check is one statement for all of them.
 */
export class JobWaiters {
  readonly #db: Db
  readonly #pollMs: number
  readonly #waits = new Set<Wait>()
  #timer: NodeJS.Timeout | undefined
  #isChecking = false
  #isStale = false

  constructor({ db, pollMs = POLL_MS }: { db: Db; pollMs?: number }) {
    this.#db = db
    this.#pollMs = pollMs
  }

  /**
   * Resolves when the job has ended or was deleted; rejects with the reason of `signal`, and when
   * the database fails.
   */
  async ended(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const wait = { id, resolve, reject }
    const onAbort = () => reject(signal.reason)
    this.#waits.add(wait)
    signal.addEventListener('abort', onAbort, { once: true })
    this.check()
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#waits.delete(wait)
    }
  }

  /** Checks the jobs now, because one may have ended. */
  check(): void {
    if (this.#isChecking) this.#isStale = true
    else if (this.#waits.size > 0) void this.#check()
  }

  async #check(): Promise<void> {
    this.#isChecking = true
    clearTimeout(this.#timer)
    do {
      this.#isStale = false
      const waits = [...this.#waits]
      try {
        const active = await filterActiveJobs(this.#db, [...new Set(waits.map(({ id }) => id))])
        for (const { id, resolve } of waits) if (!active.has(id)) resolve()
      } catch (error) {
        for (const { reject } of waits) reject(error)
      }
    } while (this.#isStale && this.#waits.size > 0)
    this.#isChecking = false
    if (this.#waits.size > 0) this.#timer = setTimeout(() => this.check(), this.#pollMs).unref()
  }
}
