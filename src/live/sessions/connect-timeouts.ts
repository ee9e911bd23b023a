/** The longest that a timer can wait; a longer one would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** How long a session waits for its first client, and who wants to know that nobody came. */
export type ConnectTimeoutsOptions = { timeoutMs: number; onLate(id: string): void }

/** The sessions whose first client has yet to come. */
export class ConnectTimeouts {
  readonly #options: ConnectTimeoutsOptions
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor(options: ConnectTimeoutsOptions) {
    this.#options = options
  }

  /** How many they are. */
  get size(): number {
    return this.#timers.size
  }

  /** A session waits from its creation on; no longer than it may though the clock was set back since. */
  add({ id, createdAt }: { id: string; createdAt: number }): void {
    const { timeoutMs } = this.#options
    const left = createdAt + timeoutMs - Date.now()
    this.#wait(id, Math.max(0, Math.min(left, timeoutMs)))
  }

  /** A client came, or the session is gone. */
  remove(id: string): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  /** Waits for none any more. */
  clear(): void {
    for (const id of [...this.#timers.keys()]) this.remove(id)
  }

  #wait(id: string, leftMs: number): void {
    const waitMs = Math.min(leftMs, MAX_TIMER_MS)
    const end = () => {
      if (leftMs > waitMs) return this.#wait(id, leftMs - waitMs)
      this.remove(id)
      this.#options.onLate(id)
    }
    this.#timers.set(id, setTimeout(end, waitMs))
  }
}
