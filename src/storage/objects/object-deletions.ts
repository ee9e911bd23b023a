import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../observability/log.ts'
import { LIST_SIZE, type ObjectStore } from './object-store.ts'

/** The pause before deletions are retried when their store is unavailable. */
const PAUSE_MS = 10_000

/** Returns which of some objects a row refers to. */
type FindReferenced = (ids: readonly string[]) => Promise<ReadonlySet<string>>

/** The dependencies of deletions. */
export type ObjectDeletionsOptions = {
  objects: Pick<ObjectStore, 'delete'>
  findReferenced: FindReferenced
  log: Log
  /** For tests: milliseconds before a deletion is retried. */
  pauseMs?: number
}

/**
 * Deletes objects that no row refers to. While their store is unavailable, it retries until the
 * server stops; the next start then removes them.
 */
export class ObjectDeletions {
  readonly #objects: Pick<ObjectStore, 'delete'>
  readonly #findReferenced: FindReferenced
  readonly #log: Log
  readonly #pauseMs: number
  readonly #closed = new AbortController()
  #waiting: string[] = []
  /** Objects that are to be deleted if no row refers to them. */
  #unclear: string[] = []
  #retrying: Promise<void> | undefined

  constructor(options: ObjectDeletionsOptions) {
    this.#objects = options.objects
    this.#findReferenced = options.findReferenced
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

  /**
   * Deletes those of these objects that no row refers to: whether their rows were deleted is
   * unknown. The others are checked again later, because that deletion may still be in progress.
   * Never rejects.
   */
  async deleteUnreferenced(ids: readonly string[]): Promise<void> {
    const referenced = await this.#findUnclear(ids)
    await this.delete(ids.filter((id) => referenced?.has(id) === false))
    this.#unclear.push(...(referenced ? ids.filter((id) => referenced.has(id)) : ids))
    if (this.#unclear.length > 0) this.#retrying ??= this.#retry()
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

  /** Returns which of these objects a row refers to; undefined if the database cannot tell now. */
  async #findUnclear(ids: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const referenced = new Set<string>()
    try {
      for (let i = 0; i < ids.length; i += LIST_SIZE) {
        for (const id of await this.#findReferenced(ids.slice(i, i + LIST_SIZE))) referenced.add(id)
      }
      return referenced
    } catch (err) {
      this.#log.warn({ err, objects: ids.length }, 'cannot look up deleted objects yet')
      return undefined
    }
  }

  /** Checks the unclear objects once more; those without a row are then to be deleted. */
  async #settleUnclear(): Promise<void> {
    const unclear = [...this.#unclear]
    const referenced = await this.#findUnclear(unclear)
    if (!referenced) return
    this.#unclear = this.#unclear.slice(unclear.length)
    this.#waiting.push(...unclear.filter((id) => !referenced.has(id)))
  }

  async #retry(): Promise<void> {
    const { signal } = this.#closed
    while (this.#waiting.length + this.#unclear.length > 0 && !signal.aborted) {
      await delay(this.#pauseMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) break
      await this.#settleUnclear()
      const waiting = [...this.#waiting]
      const remainingIds = await this.#deleteAll(waiting)
      this.#waiting = [...remainingIds, ...this.#waiting.slice(waiting.length)]
    }
    this.#retrying = undefined
  }
}
