/** Passes events, in order, from the code that causes them to the one loop that consumes them. */
export class EventQueue<Event> {
  #waiting: Event[] = []
  #end: { error?: unknown } | undefined
  #wake: (() => void) | undefined

  push(event: Event): void {
    this.#waiting.push(event)
    this.#wake?.()
  }

  /** Ends the queue: `read` returns after the last event. */
  end(): void {
    this.#end ??= {}
    this.#wake?.()
  }

  /** Ends the queue likewise, but `read` throws. */
  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  /** Yields the events until the queue ends. */
  async *read(): AsyncGenerator<Event> {
    for (;;) {
      yield* this.#waiting.splice(0)
      if (this.#waiting.length > 0) continue
      if (this.#end) {
        if ('error' in this.#end) throw this.#end.error
        return
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}
