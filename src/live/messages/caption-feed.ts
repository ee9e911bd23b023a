import type { UtteranceView } from '../../transcript/utterance-view.ts'

/** What a watcher of a session reads; a later one of the same id replaces it until it is final. */
export type LiveCaption = Pick<
  UtteranceView,
  'start' | 'channel' | 'speaker' | 'language' | 'text'
> & {
  id: string
  is_final: boolean
}

/** A watcher that joins late gets this many finals: some minutes of speech. */
const MAX_RECENT_FINALS = 50
/** Most further captions that wait for one watcher, by id: beyond that, it has to reconnect. */
const MAX_WAITING = 200

type Watcher = { waiting: Map<string, LiveCaption>; wake: () => void }

/**
 * The transcripts of a session for watchers: they get the last finals, then whatever follows.
 * Nothing is kept for a watcher that leaves, and a slow one never delays the session.
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

  /** The session is over, or continues in another process: no more captions follow here. */
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
