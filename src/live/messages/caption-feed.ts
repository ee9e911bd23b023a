import type { UtteranceView } from '../../transcript/utterance-view.ts'

/**
 * A transcript as the watchers of a session receive it. A caption replaces the earlier one with its
 * id, until it is final.
 */
export type LiveCaption = Pick<
  UtteranceView,
  'start' | 'channel' | 'speaker' | 'language' | 'text'
> & {
  id: string
  is_final: boolean
}

/** A watcher that joins late gets this many finals: some minutes of speech. */
const MAX_RECENT_FINALS = 50
/** Maximum captions that wait for one watcher; one that falls further behind is disconnected. */
const MAX_WAITING = 200

type Watcher = { waiting: Map<string, LiveCaption>; wake: () => void }

/**
 * Publishes the transcripts of a session to watchers: each receives the last finals, then the new
 * transcripts. Nothing is kept for a watcher that leaves, and a slow one never delays the session.
 */
export class CaptionFeed {
  readonly #recent = new Map<string, LiveCaption>()
  readonly #watchers = new Set<Watcher>()
  #isOver = false

  /** Passes a transcript on to all watchers. */
  publish(message: { id: string; is_final: boolean; utterance: UtteranceView }): void {
    const { id, is_final, utterance } = message
    const { start, channel, speaker, language, text } = utterance
    const source = { channel, ...(speaker !== undefined && { speaker }) }
    const caption = { id, is_final, start, ...source, language, text: text.trim() }
    this.#recent.delete(id)
    this.#recent.set(id, caption)
    if (this.#recent.size > MAX_RECENT_FINALS)
      this.#recent.delete(this.#recent.keys().next().value!)
    for (const watcher of this.#watchers) {
      watcher.waiting.set(id, caption)
      if (watcher.waiting.size > MAX_WAITING) this.#watchers.delete(watcher)
      watcher.wake()
    }
  }

  /** Whether any client watches. */
  get isWatched(): boolean {
    return this.#watchers.size > 0
  }

  /** Ends the feed: the session has ended, or continues in another process. */
  end(): void {
    this.#isOver = true
    for (const { wake } of this.#watchers) wake()
  }

  /** Yields captions until the feed ends, the watcher falls behind, or `signal` is aborted. */
  async *watch(signal: AbortSignal): AsyncGenerator<LiveCaption> {
    const watcher: Watcher = { waiting: new Map(this.#recent), wake() {} }
    this.#watchers.add(watcher)
    const onAbort = () => watcher.wake()
    signal.addEventListener('abort', onAbort)
    try {
      while (!signal.aborted) {
        const [first] = watcher.waiting
        if (first) {
          watcher.waiting.delete(first[0])
          yield first[1]
        } else if (this.#isOver || !this.#watchers.has(watcher)) {
          return
        } else {
          const { promise, resolve } = Promise.withResolvers<void>()
          watcher.wake = resolve
          await promise
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#watchers.delete(watcher)
    }
  }
}
