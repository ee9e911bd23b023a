/** Slices that are handled in one turn of the event loop; one has at most 64 KB. */
const SLICES_PER_TURN = 2

/**
 * Lets accounts take turns with bytes that come as fast as the network allows: a limited number of
 * slices in each turn of the event loop, from one account after the other. However many streams an
 * account has, the requests of others wait for two slices only.
 */
export class WriteScheduler {
  /** What waits, by account; an account that had its turn moves to the end. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false

  /** Resolves when the next slice of this account may be handled. */
  next(account: string): Promise<void> {
    this.#schedule()
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(account)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(account, [resolve])
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#run()
    })
  }

  #run(): void {
    for (let slice = 0; slice < SLICES_PER_TURN; slice++) {
      const [first] = this.#waiting
      if (!first) return
      const [account, waiting] = first
      this.#waiting.delete(account)
      waiting.shift()!()
      if (waiting.length > 0) this.#waiting.set(account, waiting)
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}

/**
 * The scheduler of this process, which has one event loop: for recordings in forms, and fetched
 * ones.
 */
export const writeScheduler = new WriteScheduler()
