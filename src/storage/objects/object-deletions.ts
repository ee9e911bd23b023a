import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../observability/log.ts'
import type { ObjectStore } from './object-store.ts'

/** The pause before deletions are retried when their store is unavailable. */
const PAUSE_MS = 10_000

/**
 * Deletes objects that no row refers to. While their store is unavailable, it retries until the
 * server stops; the next start then removes them.
 */
export class ObjectDeletions {
  readonly #objects: Pick<ObjectStore, 'delete'>
  readonly #log: Log
  readonly #pauseMs: number
  readonly #closed = new AbortController()
  #waiting: string[] = []
  #retrying: Promise<void> | undefined

  constructor(options: { objects: Pick<ObjectStore, 'delete'>; log: Log; pauseMs?: number }) {
    this.#objects = options.objects
    this.#log = options.log
    this.#pauseMs = options.pauseMs ?? PAUSE_MS
  }

  /** Deletes objects at once or, after a failure or when `signal` aborts, later; never rejects. */
  async delete(ids: readonly string[], { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    // An unavailable store would delay each caller.
    const remainingIds = this.#waiting.length > 0 ? ids : await this.#deleteAll(ids, signal)
    this.#waiting.push(...remainingIds)
    if (this.#waiting.length > 0) this.#retrying ??= this.#retry()
  }

  /** Ends the retries. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#retrying
  }

  /** Deletes objects until the first failure; returns the rest, with the failed one last. */
  async #deleteAll(ids: readonly string[], signal = this.#closed.signal): Promise<string[]> {
    for (const [i, id] of ids.entries()) {
      if (signal.aborted) return ids.slice(i)
      try {
        await this.#objects.delete(id)
      } catch (err) {
        this.#log.warn({ err, objects: ids.length - i }, 'cannot delete objects yet')
        return [...ids.slice(i + 1), id]
      }
    }
    return []
  }

  async #retry(): Promise<void> {
    const { signal } = this.#closed
    while (this.#waiting.length > 0 && !signal.aborted) {
      await delay(this.#pauseMs, undefined, { signal, ref: false }).catch(() => {})
      const waiting = [...this.#waiting]
      const remainingIds = await this.#deleteAll(waiting)
      this.#waiting = [...remainingIds, ...this.#waiting.slice(waiting.length)]
    }
    this.#retrying = undefined
  }
}
