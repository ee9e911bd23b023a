import { partialIntervalFactor } from './load-shedding.ts'

/** An utterance with fewer frames than this yields no useful partial. */
const MIN_PARTIAL_FRAMES = 8
/** Partials take at most a third of the time: they must not delay finals. */
const PARTIAL_PAUSE_FACTOR = 3

/** When the next partial of a channel is due. Times are those of `performance.now()`. */
export class PartialSchedule {
  readonly #intervalMs: number
  #nextAt = 0
  /** When the shortest interval after the last partial ends. */
  #earliest = 0

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Returns whether an utterance of so many frames is due for a partial. */
  isDue(now: number, { frames }: { frames: number }): boolean {
    return frames >= MIN_PARTIAL_FRAMES && now >= this.#nextAt
  }

  /** A partial was recognized: the next one waits in proportion to the time that it took. */
  recognized({ startedAt, now }: { startedAt: number; now: number }): void {
    this.#postpone(startedAt + PARTIAL_PAUSE_FACTOR * (now - startedAt))
  }

  /**
   * An utterance has words: its next partial waits for the interval, which grows with the load of
   * the machine. Without words it is due at once.
   */
  foundWords(now: number, { load }: { load: number }): void {
    this.#postpone(now + this.#intervalMs * partialIntervalFactor(load))
  }

  /** A partial was sent, perhaps late: it had to wait for earlier finals. */
  sent(now: number): void {
    this.#earliest = now + this.#intervalMs
    this.#postpone(this.#earliest)
  }

  /** The first partial of the next utterance waits for the shortest interval only. */
  utteranceEnded(): void {
    this.#nextAt = this.#earliest
  }

  #postpone(until: number): void {
    this.#nextAt = Math.max(this.#nextAt, until)
  }
}
