import { MAX_TIMER_MS, type ReceiveTimeout, startReceiveTimeout } from '../../clock.ts'
import type { StopReason } from '../journal/log-records.ts'

/** The timers that end a session, one per reason. */
export class SessionTimers {
  readonly #onEnd: (reason: StopReason) => void
  readonly #timers = new Map<StopReason, ReceiveTimeout>()

  constructor(onEnd: (reason: StopReason) => void) {
    this.#onEnd = onEnd
  }

  /** Sets or resets a timer; a negative delay counts as 0. */
  set(reason: StopReason, requestedMs: number): void {
    this.clear(reason)
    const delayMs = Math.max(0, Math.min(requestedMs, MAX_TIMER_MS))
    this.#timers.set(
      reason,
      startReceiveTimeout(() => this.#onEnd(reason), delayMs),
    )
  }

  clear(reason: StopReason): void {
    this.#timers.get(reason)?.clear()
    this.#timers.delete(reason)
  }

  clearAll(): void {
    for (const reason of [...this.#timers.keys()]) this.clear(reason)
  }
}
