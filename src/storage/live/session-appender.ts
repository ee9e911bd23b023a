import type { FileHandle } from 'node:fs/promises'
import { storageError } from '../data-folder/storage-error.ts'
import { writeAt } from '../objects/disk/file-io.ts'
import type { SessionSizes, SessionStore } from './session-store.ts'

/** The arguments of a `write` call, and its result. */
type PendingAppend = {
  audio: Uint8Array | undefined
  lines: readonly string[]
  written: PromiseWithResolvers<void>
}

/** The two files of a session, and where the audio begins in its file. */
export type AppendedFiles = { audio: FileHandle; log: FileHandle; audioStart: number }

/**
 * Appends to the two files of a live session, after `sizes`, up to which everything is on disk; see
 * `SessionStore` for its guarantees. One write runs at a time, with everything that has arrived
 * since the last one; syncs work the same way.
 */
export class SessionAppender implements Pick<SessionStore, 'write' | 'sync'> {
  readonly #files: AppendedFiles
  #sizes: SessionSizes
  #waiting: PendingAppend[] = []
  #isWriting = false
  /** The promise of the last `write` call. */
  #lastWrite: Promise<void> = Promise.resolve()
  /** The sync that is scheduled but has not begun, and the last sync. */
  #nextSync: Promise<SessionSizes> | undefined
  #lastSync: Promise<unknown> = Promise.resolve()
  /** The files with bytes that no sync has covered. */
  readonly #unsynced = new Set<FileHandle>()
  /** The error of a write that failed since the last sync. */
  #writeFailure: { error: unknown } | undefined
  /** The error after which every call fails. */
  #fatal: { error: unknown } | undefined
  #durableLogBytes: number

  constructor(files: AppendedFiles, sizes: SessionSizes) {
    this.#files = files
    this.#sizes = sizes
    this.#durableLogBytes = sizes.logBytes
  }

  /** Bytes of each file that were written completely. */
  get sizes(): SessionSizes {
    return { ...this.#sizes }
  }

  /** Bytes of the log that a sync has made durable. */
  get durableLogBytes(): number {
    return this.#durableLogBytes
  }

  write(audio: Uint8Array | undefined, lines: readonly string[]): Promise<void> {
    if (this.#fatal) return Promise.reject(this.#fatal.error)
    if (lines.some((line) => line.includes('\n'))) throw new TypeError('a line with a line break')
    const written = Promise.withResolvers<void>()
    this.#waiting.push({ audio, lines, written })
    this.#lastWrite = written.promise
    if (!this.#isWriting) void this.#writeWaiting()
    return written.promise
  }

  sync(): Promise<SessionSizes> {
    if (!this.#nextSync) {
      this.#nextSync = settled(this.#lastSync).then(() => this.#syncNow())
      this.#lastSync = this.#nextSync
    }
    return this.#nextSync
  }

  /** Resolves when all earlier `write` calls have succeeded or failed. */
  settled(): Promise<void> {
    return settled(this.#lastWrite)
  }

  /** Waits for pending writes and syncs; later calls fail. */
  async close(): Promise<void> {
    await settled(this.#lastWrite)
    await settled(this.#lastSync)
    this.#fatal ??= { error: new Error('the session is closed') }
  }

  async #writeWaiting(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const entries = this.#waiting
      this.#waiting = []
      try {
        await this.#append(entries)
        for (const { written } of entries) written.resolve()
      } catch (cause) {
        const error = storageError(cause)
        await this.#truncate(error)
        this.#writeFailure = { error }
        entries.push(...this.#waiting)
        this.#waiting = []
        for (const { written } of entries) written.reject(error)
      }
    }
    this.#isWriting = false
  }

  /**
   * Writes the audio first: if the process is killed in between, no line reports audio that is
   * missing.
   */
  async #append(entries: readonly PendingAppend[]): Promise<void> {
    const { audio: audioFile, log, audioStart } = this.#files
    const chunks = entries.flatMap(({ audio }) => (audio && audio.length > 0 ? [audio] : []))
    const lines = entries.flatMap(({ lines }) => lines.map((line) => `${line}\n`))
    const text = Buffer.from(lines.join(''))
    const audioLength = chunks.reduce((sum, { length }) => sum + length, 0)
    const { audioBytes, logBytes } = this.#sizes
    await writeAt(audioFile, chunks, audioStart + audioBytes)
    await writeAt(log, [text], logBytes)
    if (audioLength > 0) this.#unsynced.add(audioFile)
    if (text.length > 0) this.#unsynced.add(log)
    this.#sizes = { audioBytes: audioBytes + audioLength, logBytes: logBytes + text.length }
  }

  /** Removes the bytes of a failed write: after a crash, its lines would be read as valid. */
  async #truncate(error: unknown): Promise<void> {
    const { audio, log, audioStart } = this.#files
    try {
      await log.truncate(this.#sizes.logBytes)
      await audio.truncate(audioStart + this.#sizes.audioBytes)
    } catch {
      this.#fatal ??= { error }
    }
  }

  async #syncNow(): Promise<SessionSizes> {
    this.#nextSync = undefined
    await settled(this.#lastWrite)
    if (this.#fatal) throw this.#fatal.error
    if (this.#writeFailure) {
      const { error } = this.#writeFailure
      this.#writeFailure = undefined
      throw error
    }
    const files = [...this.#unsynced]
    const sizes = this.sizes
    this.#unsynced.clear()
    try {
      for (const file of files) await file.datasync()
      this.#durableLogBytes = sizes.logBytes
      return sizes
    } catch (cause) {
      // Linux drops data that it cannot write: a second sync would succeed without those bytes.
      this.#fatal ??= { error: storageError(cause) }
      throw this.#fatal.error
    }
  }
}

/** Waits for a promise, whether it resolves or rejects. */
export async function settled(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {})
}
