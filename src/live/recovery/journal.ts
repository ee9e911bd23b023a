import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { LiveFiles } from '../../storage/live/live-files.ts'

/** Something to be stored, and who wants to know. */
export type Entry = {
  sound?: Uint8Array
  lines: readonly string[]
  /** It is in the files: it can be read, and a process that is killed loses nothing of it. */
  onWritten?: () => void
  /** It is on the disk. */
  onStored?: () => void
}

/** A disk that is full is tried again after this time; meanwhile nothing is acknowledged. */
const RETRY_MS = 1000
/** From this part of its bound on, the log is kept for what must not be missed. */
const LARGE = 0.75
/** What an entry takes in memory besides what is in it. */
const ENTRY_BYTES = 500

/** What the journal of a session is made from. */
export type JournalOptions = {
  files: Pick<LiveFiles, 'write' | 'sync'> & Partial<Pick<LiveFiles, 'logBytes'>>
  /** The log of a session may have so many bytes; undefined = as many as there are. */
  maxLogBytes?: number | undefined
  /** More of the log is on the disk. */
  onStored?: (() => void) | undefined
  /** Nothing more can be stored, until the files are opened anew. */
  onBroken(error: unknown): void
  log: Log
  signal: AbortSignal
  retryMs?: number
}

/**
 * Stores what happens in a session, in the order in which it happens, and tells when that is done, in
 * the same order. What comes while the disk is busy is stored together with the next sync. A disk that
 * is full is tried again for as long as the session lives: the client keeps what was not acknowledged.
 */
export class Journal {
  readonly #options: JournalOptions
  #waiting: Entry[] = []
  #storing: Promise<void> | undefined
  #bytes = 0
  #logBytes: number

  constructor(options: JournalOptions) {
    this.#options = options
    this.#logBytes = options.files.logBytes ?? 0
  }

  /** Bytes that wait to be stored, with what they take in memory. */
  get waitingBytes(): number {
    return this.#bytes
  }

  /** Whether so much is in the log that only what cannot be missed should still get there. */
  get isLarge(): boolean {
    const { maxLogBytes = Number.POSITIVE_INFINITY } = this.#options
    return this.#logBytes > maxLogBytes * LARGE
  }

  /** Whether nothing more should come. */
  get isFull(): boolean {
    const { maxLogBytes = Number.POSITIVE_INFINITY } = this.#options
    return this.#logBytes > maxLogBytes
  }

  /** Nothing more is stored of a session that was left. */
  append(entry: Entry): void {
    if (this.#options.signal.aborted) return
    this.#waiting.push(entry)
    this.#bytes += bytesOf(entry)
    for (const line of entry.lines) this.#logBytes += line.length + 1
    this.#storing ??= this.#store()
  }

  /** Resolves when all that was appended is on the disk, or the session was left. */
  async flushed(): Promise<void> {
    while (this.#storing) await this.#storing
  }

  async #store(): Promise<void> {
    const { files, signal } = this.#options
    while (this.#waiting.length > 0 && !signal.aborted) {
      const batch = this.#waiting.splice(0)
      const lines = batch.flatMap((entry) => entry.lines)
      const sound = joined(batch.flatMap((entry) => entry.sound ?? []))
      if (!(await this.#write(sound, lines))) break
      for (const entry of batch) this.#bytes -= bytesOf(entry)
      for (const { onWritten } of batch) onWritten?.()
      try {
        await files.sync()
      } catch (error) {
        this.#options.onBroken(error)
        break
      }
      for (const { onStored } of batch) onStored?.()
      this.#options.onStored?.()
    }
    this.#storing = undefined
  }

  /** Tries until it works; false when the session was left before that, or the files are broken. */
  async #write(sound: Uint8Array | undefined, lines: readonly string[]): Promise<boolean> {
    const { files, log, signal, retryMs = RETRY_MS } = this.#options
    for (;;) {
      try {
        await files.write(sound, lines)
        return true
      } catch (error) {
        if (signal.aborted) return false
        log.error({ err: error }, 'cannot store a live session, trying again')
        if (!(await this.#canGoOn())) {
          this.#options.onBroken(error)
          return false
        }
        await files.sync().catch(() => {}) // It tells once of the write that failed.
        await delay(retryMs, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** After a write that failed: the next sync only says so once more, and the one behind it tells. */
  async #canGoOn(): Promise<boolean> {
    const { files } = this.#options
    await files.sync().catch(() => {})
    return files.sync().then(
      () => true,
      () => false,
    )
  }
}

function bytesOf({ sound, lines }: Entry): number {
  const texts = lines.reduce((sum, { length }) => sum + length, 0)
  return (sound?.byteLength ?? 0) + texts + ENTRY_BYTES
}

function joined(pieces: readonly Uint8Array[]): Uint8Array | undefined {
  return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
}
