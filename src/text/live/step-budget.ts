/** Milliseconds that a step may use at once: all that the largest vocabulary needs in all languages that have sounds. */
const CAPACITY = 15_000
/** Milliseconds that it gets back each second: several times what speech takes with 10,000 ordinary entries. */
const REFILL = 500
/** Milliseconds for which others in a shared thread may wait. */
const LONG = 20
/** One that takes longer than this is enough. */
const VERY_LONG = 100
/** So many longer tasks are one more than a coincidence. */
const MAX_LONG = 3

/** What a session may use of processor time for one of its steps. */
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

  /** Counts a task of so many milliseconds. */
  spend(ms: number): void {
    const now = this.#now()
    this.#left = Math.min(CAPACITY, this.#left + ((now - this.#at) / 1000) * REFILL) - ms
    this.#at = now
    if (ms > LONG) this.#long += ms > VERY_LONG ? MAX_LONG : 1
  }

  /** Whether its tasks hold up those of others again and again. */
  get isSlow(): boolean {
    return this.#long >= MAX_LONG
  }

  /** Whether it used more than it may. */
  get isSpent(): boolean {
    return this.#left < 0
  }
}
