import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../observability/log.ts'
import type { SessionStore } from '../../storage/live/session-store.ts'

/** What one write stores: audio, and the log lines that describe it. */
export type JournalEntry = { audio?: Uint8Array; lines: readonly string[] }

/**
 * How far an entry is stored. `written`: it can be read and survives the death of the process.
 * `durable`: it is synced to the disk. Both promises stay pending if the session is suspended or
 * its disk fails first.
 */
export type AppendOutcome = { written: Promise<void>; durable: Promise<void> }

/** A write to a full disk is retried after this time; meanwhile nothing is acknowledged. */
const RETRY_MS = 1000
/** Above this share of its limit, the log accepts only what must not be lost. */
const FULL_LOG_SHARE = 0.75
/** Memory of an entry besides its content. */
const ENTRY_BYTES = 500

/** Options of the journal of a session. */
export type JournalOptions = {
  store: Pick<SessionStore, 'write' | 'sync'> & Partial<Pick<SessionStore, 'logBytes'>>
  /** Maximum size of a session's log in bytes; undefined = unlimited. */
  maxLogBytes?: number | undefined
  log: Log
  signal: AbortSignal
  retryMs?: number
}

type PendingEntry = JournalEntry & {
  bytes: number
  written: PromiseWithResolvers<void>
  durable: PromiseWithResolvers<void>
}

/**
 * Stores what happens in a session, in order; the promises that `append` returns resolve in the
 * same order. Entries that arrive while the disk is busy become durable with the next sync. Writes
 * to a full disk are retried for as long as the session lives: the client keeps what was not
 * acknowledged.
 */
export class Journal {
  readonly #options: JournalOptions
  #waiting: PendingEntry[] = []
  #storing: Promise<void> | undefined
  #bytes = 0
  #logBytes: number
  /** The steps that `progress` has not yielded yet. */
  readonly #steps = new Set<'written' | 'durable'>()
  /** Why nothing more can be stored. */
  #failure: { error: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(options: JournalOptions) {
    this.#options = options
    this.#logBytes = options.store.logBytes ?? 0
  }

  /** Bytes that wait to be stored, with their memory overhead. */
  get waitingBytes(): number {
    return this.#bytes
  }

  /** Whether the log is so large that only what must not be lost should still be added. */
  get isLarge(): boolean {
    const { maxLogBytes = Number.POSITIVE_INFINITY } = this.#options
    return this.#logBytes > maxLogBytes * FULL_LOG_SHARE
  }

  /** Whether nothing more should be added. */
  get isFull(): boolean {
    const { maxLogBytes = Number.POSITIVE_INFINITY } = this.#options
    return this.#logBytes > maxLogBytes
  }

  /** Stores an entry after all earlier ones. A suspended session stores nothing more. */
  append(entry: JournalEntry): AppendOutcome {
    const [written, durable] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const appended = { written: written.promise, durable: durable.promise }
    if (this.#options.signal.aborted) return appended
    const bytes = journalEntryBytes(entry)
    this.#waiting.push({ ...entry, bytes, written, durable })
    this.#bytes += bytes
    for (const line of entry.lines) this.#logBytes += Buffer.byteLength(line) + 1
    this.#storing ??= this.#store()
    return appended
  }

  /**
   * Yields when more entries are written or durable than at the last yield, until the session is
   * suspended. Throws when nothing more can be stored until the files are reopened. Has one
   * consumer.
   */
  async *progress(): AsyncGenerator<'written' | 'durable'> {
    const { signal } = this.#options
    signal.addEventListener('abort', () => this.#wake?.(), { once: true })
    while (!signal.aborted) {
      const [step] = this.#steps
      if (step) {
        this.#steps.delete(step)
        yield step
      } else if (this.#failure) {
        throw this.#failure.error
      } else {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#wake = resolve
        await promise
      }
    }
  }

  #report(step: 'written' | 'durable'): void {
    this.#steps.add(step)
    this.#wake?.()
  }

  #fail(error: unknown): void {
    this.#failure = { error }
    this.#wake?.()
  }

  /**
   * Resolves when all entries are durable, or when no more can be stored: the session is suspended,
   * or its files are broken.
   */
  async flushed(): Promise<void> {
    while (this.#storing) await this.#storing
  }

  /**
   * Waits as `flushed` does, for at most `timeoutMs`; resolves to whether all entries are durable.
   */
  async flushedWithin(timeoutMs: number): Promise<boolean> {
    const timer = new AbortController()
    const timedOut = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false)
    const flushed = this.flushed().then(() => this.#failure === undefined)
    const isFlushed = await Promise.race([flushed, timedOut])
    timer.abort()
    return isFlushed
  }

  async #store(): Promise<void> {
    const { store, signal } = this.#options
    while (this.#waiting.length > 0 && !signal.aborted) {
      const batch = this.#waiting.splice(0)
      const lines = batch.flatMap((entry) => entry.lines)
      const audio = joinPieces(batch.flatMap((entry) => entry.audio ?? []))
      if (!(await this.#write(audio, lines))) break
      for (const { bytes } of batch) this.#bytes -= bytes
      for (const { written } of batch) written.resolve()
      this.#report('written')
      try {
        await store.sync()
      } catch (error) {
        this.#fail(error)
        break
      }
      for (const { durable } of batch) durable.resolve()
      this.#report('durable')
    }
    this.#storing = undefined
  }

  /**
   * Retries until the write succeeds; returns false when the session is suspended before that, or
   * the files are broken.
   */
  async #write(audio: Uint8Array | undefined, lines: readonly string[]): Promise<boolean> {
    const { store, log, signal, retryMs = RETRY_MS } = this.#options
    for (;;) {
      try {
        await store.write(audio, lines)
        return true
      } catch (error) {
        if (signal.aborted) return false
        log.error({ err: error }, 'cannot store a live session, retrying')
        if (!(await this.#areFilesUsable())) {
          this.#fail(error)
          return false
        }
        await store.sync().catch(() => {}) // Consumes the error: a sync reports it once.
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /**
   * Returns whether the files are usable after a failed write. The first sync may only report that
   * failure again; the second one decides.
   */
  async #areFilesUsable(): Promise<boolean> {
    const { store } = this.#options
    await store.sync().catch(() => {})
    return store.sync().then(
      () => true,
      () => false,
    )
  }
}

function journalEntryBytes({ audio, lines }: JournalEntry): number {
  const lineBytes = lines.reduce((sum, { length }) => sum + length, 0)
  return (audio?.byteLength ?? 0) + lineBytes + ENTRY_BYTES
}

function joinPieces(pieces: readonly Uint8Array[]): Uint8Array | undefined {
  return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
}
