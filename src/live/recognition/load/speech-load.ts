/** The share of speech is averaged over about this many seconds. */
const MEMORY_SECONDS = 30
/** The cost of a silent session, relative to one of continuous speech. */
const SILENT_SESSION_COST = 0.1

/**
 * The load of a session on the machine: the share of speech in about the last half minute, summed
 * over its channels. A new session counts as continuous speech. `now` returns milliseconds and
 * never goes back.
 */
export class SpeechLoad {
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

  /** Adds seconds of speech, of all channels together. */
  recognized(seconds: number): void {
    this.#level = Math.min(this.#channels, this.#current() + seconds / MEMORY_SECONDS)
    this.#at = this.#now()
  }

  /** The load: 1 = a session of one channel with continuous speech. */
  get weight(): number {
    return SILENT_SESSION_COST + (1 - SILENT_SESSION_COST) * this.#current()
  }

  #current(): number {
    const seconds = (this.#now() - this.#at) / 1000
    return this.#level * Math.exp(-seconds / MEMORY_SECONDS)
  }
}
