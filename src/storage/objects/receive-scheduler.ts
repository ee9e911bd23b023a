/** The slices that are handled in one turn of the event loop; a slice has at most 64 KB. */
const SLICES_PER_TURN = 2

/**
 * Lets accounts take turns at receiving bytes that arrive as fast as the network allows: in each
 * turn of the event loop a limited number of slices is handled, from one account after the other.
 * However many streams an account has, the requests of others wait for only two slices.
 */
export class ReceiveScheduler {
  /** The waiting slices by account; an account that had its turn moves to the end. */
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
 * The scheduler of this process, which has one event loop. It serves recordings in forms and
 * fetched recordings.
 */
export const receiveScheduler = new ReceiveScheduler()
