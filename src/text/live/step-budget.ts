/**
 * The milliseconds that a step may use at once: enough for the largest vocabulary in every language
 * that has pronunciations.
 */
const CAPACITY_MS = 15_000
/**
 * Milliseconds that a step regains per second: several times as much as speech needs with 10,000
 * ordinary entries.
 */
const REFILL_MS_PER_SECOND = 500
/** A task that takes longer is long: other sessions in a shared thread wait for it. */
const LONG_MS = 20
/** A single task that takes longer marks the step as slow. */
const VERY_LONG_MS = 100
/** This many long tasks mark the step as slow. */
const MAX_LONG_TASKS = 3

/** The processor time that a session may use for one of its steps. */
export class StepBudget {
  readonly #now: () => number
  #remainingMs = CAPACITY_MS
  #at: number
  #longTasks = 0

  /** `now` is in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
    this.#at = now()
  }

  /** Charges a task of `ms` milliseconds. */
  spend(ms: number): void {
    const now = this.#now()
    this.#remainingMs =
      Math.min(CAPACITY_MS, this.#remainingMs + ((now - this.#at) / 1000) * REFILL_MS_PER_SECOND) -
      ms
    this.#at = now
    if (ms > LONG_MS) this.#longTasks += ms > VERY_LONG_MS ? MAX_LONG_TASKS : 1
  }

  /** Whether its tasks have repeatedly delayed those of other sessions. */
  get isSlow(): boolean {
    return this.#longTasks >= MAX_LONG_TASKS
  }

  /** Whether it has used more time than it may. */
  get isSpent(): boolean {
    return this.#remainingMs < 0
  }
}
