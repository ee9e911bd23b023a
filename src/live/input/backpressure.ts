/** Where a client is held up that sends more than can be stored and heard. */
export type BufferSpaceOptions = {
  /** How full it is; 1 = no more fits. */
  fill(): number
  /** Called when a client has to wait, and when it need not any more. */
  onFull(): void
  onRoom(): void
}

/** A client that waits is read again when this much is left. */
const AGAIN_AT = 0.9

/** Tells when the next frame may be read. */
export class BufferSpace {
  readonly #options: BufferSpaceOptions
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(options: BufferSpaceOptions) {
    this.#options = options
  }

  /** Resolves when there is room; undefined when that is now. */
  wait(): Promise<void> | undefined {
    if (this.#options.fill() <= 1) return undefined
    if (!this.#waiting) this.#options.onFull()
    this.#waiting ??= Promise.withResolvers()
    return this.#waiting.promise
  }

  /** Something was stored or heard. */
  changed(): void {
    if (this.#waiting && this.#options.fill() <= AGAIN_AT) this.release()
  }

  /** Nobody has to wait any more. */
  release(): void {
    if (!this.#waiting) return
    this.#waiting.resolve()
    this.#waiting = undefined
    this.#options.onRoom()
  }
}
