import type { StopReason } from '../journal/log-records.ts'

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The timers that end a session, one per reason. */
export class SessionTimers {
  readonly #onEnd: (reason: StopReason) => void
  readonly #timers = new Map<StopReason, NodeJS.Timeout>()

  constructor(onEnd: (reason: StopReason) => void) {
    this.#onEnd = onEnd
  }

  /** Sets a timer, or resets it; a time in the past counts as now. */
  set(reason: StopReason, milliseconds: number): void {
    this.clear(reason)
    const wait = Math.max(0, Math.min(milliseconds, MAX_TIMER_MS))
    this.#timers.set(
      reason,
      setTimeout(() => this.#onEnd(reason), wait),
    )
  }

  clear(reason: StopReason): void {
    clearTimeout(this.#timers.get(reason))
    this.#timers.delete(reason)
  }

  clearAll(): void {
    for (const reason of [...this.#timers.keys()]) this.clear(reason)
  }
}
