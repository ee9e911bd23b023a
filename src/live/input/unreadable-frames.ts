import { TokenBucket } from './token-bucket.ts'

/** Frames that cannot be read, in a row, before a client is taken for something else (contract 5.4). */
const MAX_IN_A_ROW = 20
/** With others between them a client may send so many, and one more each second. */
const MAX_SCATTERED = 100

/** Counts the frames of one client that cannot be read. */
export class UnreadableFrames {
  readonly #scattered = new TokenBucket({ perSecond: 1, burst: MAX_SCATTERED })
  #inARow = 0
  #isOver = false

  /** Whether there were too many. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** A frame could be read. */
  readable(): void {
    this.#inARow = 0
  }

  /** A frame could not be read. */
  unreadable(): void {
    this.#inARow++
    if (this.#inARow >= MAX_IN_A_ROW || !this.#scattered.take()) this.#isOver = true
  }
}
