/**
 * Milliseconds that a step may use at once: enough for the largest vocabulary in every language
 * that has pronunciations.
 */
const CAPACITY = 15_000
/**
 * Milliseconds that a step regains each second: several times what speech takes with 10,000
 * ordinary entries.
 */
const REFILL = 500
/** Milliseconds that others in a shared thread may wait. */
const MAX_WAIT_MS = 20
/** A single task longer than this is enough to count as slow. */
const VERY_LONG = 100
/** This many long tasks are no longer a coincidence. */
const MAX_LONG = 3

/** The processor time that a session may use for one of its steps. */
export class StepBudget {
  readonly #now: () => number
  #left = CAPACITY
  #at: number
  #long = 0

  /** `now` is in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
    this.#at = now()
  }

  /** Charges a task of `ms` milliseconds. */
  spend(ms: number): void {
    const now = this.#now()
    this.#left = Math.min(CAPACITY, this.#left + ((now - this.#at) / 1000) * REFILL) - ms
    this.#at = now
    if (ms > MAX_WAIT_MS) this.#long += ms > VERY_LONG ? MAX_LONG : 1
  }

  /** Returns whether its tasks repeatedly delay those of others. */
  get isSlow(): boolean {
    return this.#long >= MAX_LONG
  }

  /** Returns whether it used more time than it may. */
  get isSpent(): boolean {
    return this.#left < 0
  }
}
