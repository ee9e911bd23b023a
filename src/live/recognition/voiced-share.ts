/** Over about so many seconds it is remembered how much was said. */
const MEMORY_SECONDS = 30
/** What a session costs in which nothing is said, beside one that speaks all the time. */
const SILENT = 0.1

/**
 * How much of the machine a session takes: what was said in the last half minute, on all its channels. A
 * new one counts as one that speaks. `now` counts milliseconds and never goes back.
 */
export class VoicedShare {
  readonly #now: () => number
  readonly #channels: number
  #level = 1
  #at: number

  constructor({
    channels,
    now = () => performance.now(),
  }: { channels: number; now?: () => number }) {
    this.#channels = channels
    this.#now = now
    this.#at = now()
  }

  /** So many seconds of speech were heard, of all channels together. */
  heard(seconds: number): void {
    this.#level = Math.min(this.#channels, this.#current() + seconds / MEMORY_SECONDS)
    this.#at = this.#now()
  }

  /** 1 = a session of one channel that speaks all the time. */
  get weight(): number {
    return SILENT + (1 - SILENT) * this.#current()
  }

  #current(): number {
    const seconds = (this.#now() - this.#at) / 1000
    return this.#level * Math.exp(-seconds / MEMORY_SECONDS)
  }
}
