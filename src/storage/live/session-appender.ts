import type { FileHandle } from 'node:fs/promises'
import { storageError } from '../database/sqlite/storage-error.ts'
import { writeAt } from '../objects/disk/file-io.ts'
import type { DurableSizes, SessionStore } from './session-store.ts'

/** The arguments of one `write` call. */
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
  #sizes: DurableSizes
  #waiting: PendingAppend[] = []
  #isWriting = false
  /** Settles with the last call of `write`. */
  #lastWrite: Promise<void> = Promise.resolve()
  /** The sync that has not begun yet, and the last one. */
  #nextSync: Promise<DurableSizes> | undefined
  #lastSync: Promise<unknown> = Promise.resolve()
  /** Files whose bytes may not be on disk yet. */
  readonly #unsynced = new Set<FileHandle>()
  /** A write that failed since the last sync. */
  #failure: { error: unknown } | undefined
  /** Why nothing works any more. */
  #end: { error: unknown } | undefined
  #storedLogBytes: number

  constructor(files: AppendedFiles, sizes: DurableSizes) {
    this.#files = files
    this.#sizes = sizes
    this.#storedLogBytes = sizes.logBytes
  }

  /** How many bytes of each file are valid. */
  get sizes(): DurableSizes {
    return { ...this.#sizes }
  }

  /** Bytes of the log that survive a power loss. */
  get storedLogBytes(): number {
    return this.#storedLogBytes
  }

  write(audio: Uint8Array | undefined, lines: readonly string[]): Promise<void> {
    if (this.#end) return Promise.reject(this.#end.error)
    if (lines.some((line) => line.includes('\n'))) throw new TypeError('a line with a line break')
    const written = Promise.withResolvers<void>()
    this.#waiting.push({ audio, lines, written })
    this.#lastWrite = written.promise
    if (!this.#isWriting) void this.#writeWaiting()
    return written.promise
  }

  sync(): Promise<DurableSizes> {
    if (!this.#nextSync) {
      this.#nextSync = settled(this.#lastSync).then(() => this.#syncNow())
      this.#lastSync = this.#nextSync
    }
    return this.#nextSync
  }

  /** Resolves when everything given to `write` is written, or has failed. */
  settled(): Promise<void> {
    return settled(this.#lastWrite)
  }

  /** Completes pending writes, and accepts nothing more. */
  async close(): Promise<void> {
    await settled(this.#lastWrite)
    await settled(this.#lastSync)
    this.#end ??= { error: new Error('the session is closed') }
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
        this.#failure = { error }
        entries.push(...this.#waiting)
        this.#waiting = []
        for (const { written } of entries) written.reject(error)
      }
    }
    this.#isWriting = false
  }

  /**
   * Writes the audio first: a process killed in between leaves no line that reports too much audio.
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

  /** Removes the remains of a failed write: its lines would count after a crash. */
  async #truncate(error: unknown): Promise<void> {
    const { audio, log, audioStart } = this.#files
    try {
      await log.truncate(this.#sizes.logBytes)
      await audio.truncate(audioStart + this.#sizes.audioBytes)
    } catch {
      this.#end ??= { error }
    }
  }

  async #syncNow(): Promise<DurableSizes> {
    this.#nextSync = undefined
    await settled(this.#lastWrite)
    if (this.#end) throw this.#end.error
    if (this.#failure) {
      const { error } = this.#failure
      this.#failure = undefined
      throw error
    }
    const files = [...this.#unsynced]
    const sizes = this.sizes
    this.#unsynced.clear()
    try {
      for (const file of files) await file.datasync()
      this.#storedLogBytes = sizes.logBytes
      return sizes
    } catch (cause) {
      // Linux drops data that it could not write: a second sync would succeed without those bytes.
      this.#end ??= { error: storageError(cause) }
      throw this.#end.error
    }
  }
}

/** Waits for a promise, whether it resolves or rejects. */
export async function settled(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {})
}
