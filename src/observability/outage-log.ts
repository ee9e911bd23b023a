import type { Log } from './log.ts'

/** The shortest time between two log lines of one outage. */
const REPEAT_MS = 60_000

/** How an outage is logged, and its end; `now` is for tests. */
export type OutageLogOptions = {
  level: 'warn' | 'error'
  failed: string
  recovered: string
  now?: () => number
}

/**
 * Logs the failures of work that is tried again every second or so, which would fill the log: the
 * first one, then one a minute, and once when the work succeeds again.
 */
export class OutageLog {
  readonly #log: Log
  readonly #options: OutageLogOptions
  readonly #now: () => number
  /** When the next failure is logged; undefined while the work succeeds. */
  #nextAt: number | undefined

  constructor(log: Log, options: OutageLogOptions) {
    this.#log = log
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Called after each failure. */
  failed(err: unknown): void {
    const now = this.#now()
    if (this.#nextAt !== undefined && now < this.#nextAt) return
    this.#nextAt = now + REPEAT_MS
    this.#log[this.#options.level]({ err }, this.#options.failed)
  }

  /** Called after each success. */
  succeeded(): void {
    if (this.#nextAt === undefined) return
    this.#nextAt = undefined
    this.#log.info(this.#options.recovered)
  }
}
