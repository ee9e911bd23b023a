import { MAX_TIMER_MS, wallNow } from '../../clock.ts'

/** How long a session waits for its first client, and the handler for sessions that none joins. */
export type ConnectTimeoutsOptions = { timeoutMs: number; onTimeout(id: string): void }

/** The sessions that wait for their first client. */
export class ConnectTimeouts {
  readonly #options: ConnectTimeoutsOptions
  readonly #timers = new Map<string, NodeJS.Timeout>()
  #isClosed = false

  constructor(options: ConnectTimeoutsOptions) {
    this.#options = options
  }

  /** The number of waiting sessions. */
  get size(): number {
    return this.#timers.size
  }

  /**
   * Starts the timeout of a session. It counts from the creation of the session, but is never
   * longer than `timeoutMs`, even if the clock was set back since.
   */
  add({ id, createdAt }: { id: string; createdAt: number }): void {
    if (this.#isClosed) return
    const { timeoutMs } = this.#options
    const remainingMs = createdAt + timeoutMs - wallNow()
    this.#wait(id, Math.max(0, Math.min(remainingMs, timeoutMs)))
  }

  /** Stops waiting, because a client connected or the session ended. */
  remove(id: string): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  /**
   * Stops waiting for all clients, also those of sessions that are being created: the next process
   * waits for them.
   */
  close(): void {
    this.#isClosed = true
    for (const id of [...this.#timers.keys()]) this.remove(id)
  }

  #wait(id: string, remainingMs: number): void {
    const waitMs = Math.min(remainingMs, MAX_TIMER_MS)
    const end = () => {
      if (remainingMs > waitMs) return this.#wait(id, remainingMs - waitMs)
      this.remove(id)
      this.#options.onTimeout(id)
    }
    this.#timers.set(id, setTimeout(end, waitMs))
  }
}
