/** Passes events, in order, from their producers to the single loop that consumes them. */
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

  /** Ends the queue with an error: `read` throws it after the last event. */
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
