/**
 * Milliseconds that a step may use at once: enough for the largest vocabulary in every language
 * that has pronunciations.
 */
const CAPACITY = 15_000
/**
 * Milliseconds that a step regains per second: several times as much as speech needs with 10,000
 * ordinary entries.
 */
const REFILL = 500
/** Milliseconds that other sessions in a shared thread may wait. */
const MAX_WAIT_MS = 20
/** A single task that takes longer marks the step as slow. */
const VERY_LONG = 100
/** This many long tasks mark the step as slow. */
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

  /** Returns whether its tasks have repeatedly delayed those of others. */
  get isSlow(): boolean {
    return this.#long >= MAX_LONG
  }

  /** Returns whether it has used more time than it may. */
  get isSpent(): boolean {
    return this.#left < 0
  }
}
