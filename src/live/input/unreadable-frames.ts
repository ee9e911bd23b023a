import { TokenBucket } from './token-bucket.ts'

/** Unreadable frames in a row before a client is considered broken. */
const MAX_IN_A_ROW = 20
/** Limit of unreadable frames between readable ones; it grows by one each second. */
const MAX_SCATTERED = 100

/** Counts the unreadable frames of one client. */
export class UnreadableFrames {
  readonly #scattered = new TokenBucket({ perSecond: 1, burst: MAX_SCATTERED })
  #inARow = 0
  #isOver = false

  /** Whether the client sent too many unreadable frames. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Counts a readable frame. */
  countReadable(): void {
    this.#inARow = 0
  }

  /** Counts an unreadable frame. */
  countUnreadable(): void {
    this.#inARow++
    if (this.#inARow >= MAX_IN_A_ROW || !this.#scattered.take()) this.#isOver = true
  }
}
