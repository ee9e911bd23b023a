/**
 * Options of the backpressure on a client that sends audio faster than it can be stored and
 * recognized.
 */
export type BufferSpaceOptions = {
  /** Returns the fill level; 1 = full. */
  fill(): number
  /** Called when a client has to wait. */
  onFull(): void
  /** Called when the client may continue. */
  onSpace(): void
}

/** Reading a paused client resumes at this fill level. */
const RESUME_LEVEL = 0.9

/** Controls when the next frame may be read. */
export class BufferSpace {
  readonly #options: BufferSpaceOptions
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(options: BufferSpaceOptions) {
    this.#options = options
  }

  /** Resolves when there is buffer space; undefined when that is now. */
  wait(): Promise<void> | undefined {
    if (this.#options.fill() <= 1) return undefined
    if (!this.#waiting) this.#options.onFull()
    this.#waiting ??= Promise.withResolvers()
    return this.#waiting.promise
  }

  /** Reports that audio was stored or recognized. */
  changed(): void {
    if (this.#waiting && this.#options.fill() <= RESUME_LEVEL) this.release()
  }

  /** Ends all waits. */
  release(): void {
    if (!this.#waiting) return
    this.#waiting.resolve()
    this.#waiting = undefined
    this.#options.onSpace()
  }
}
