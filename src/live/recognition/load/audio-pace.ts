/** Sound cards and clients may send this much faster than real time. */
const TOLERANCE = 1.1

/**
 * Detects audio that arrives faster than real time. Counts by how many seconds the audio is ahead
 * of the clock, up to twice the allowed lead, so that a session that slows down soon counts as real
 * time again. `now` returns milliseconds and never goes back.
 */
export class AudioPace {
  readonly #maxLead: number
  readonly #now: () => number
  #lead = 0
  #at: number

  constructor({ maxLead, now = () => performance.now() }: { maxLead: number; now?: () => number }) {
    this.#maxLead = maxLead
    this.#now = now
    this.#at = now()
  }

  /** Adds seconds of processed audio. */
  processed(seconds: number): void {
    this.#lead = Math.min(2 * this.#maxLead, this.#leadNow() + seconds)
  }

  /** Whether the audio is further ahead of the clock than allowed. */
  get isFast(): boolean {
    return this.#leadNow() > this.#maxLead
  }

  #leadNow(): number {
    const at = this.#now()
    this.#lead = Math.max(0, this.#lead - ((at - this.#at) / 1000) * TOLERANCE)
    this.#at = at
    return this.#lead
  }
}
