import type { FileHandle } from 'node:fs/promises'
import { writeAt } from '../objects/file-io.ts'
import { storageError } from '../sqlite/storage-error.ts'
import type { SessionStore, StoredSizes } from './session-store.ts'

/** Appends to the two files of a live session; see `SessionStore` for its guarantees. */
export type Appender = Pick<SessionStore, 'write' | 'sync'> & {
  /** How many bytes of each file are valid. */
  readonly sizes: StoredSizes
  /** Bytes of the log that survive a power loss. */
  readonly storedLogBytes: number
  /** Resolves when everything given to `write` is written, or has failed. */
  settled(): Promise<void>
  /** Completes pending writes, and accepts nothing more. */
  close(): Promise<void>
}

/** The arguments of one `write` call. */
type Entry = {
  audio: Uint8Array | undefined
  lines: readonly string[]
  written: PromiseWithResolvers<void>
}

/**
 * Appends after `sizes`, up to which everything is on disk. One write runs at a time, with
 * everything that has arrived since the last one; syncs work the same way.
 */
export function createAppender(
  files: { audio: FileHandle; log: FileHandle; audioStart: number },
  { audioBytes, logBytes }: StoredSizes,
): Appender {
  const { audio, log, audioStart } = files
  let waiting: Entry[] = []
  let isWriting = false
  /** Settles with the last call of `write`. */
  let lastWrite: Promise<void> = Promise.resolve()
  /** The sync that has not begun yet, and the last one. */
  let nextSync: Promise<StoredSizes> | undefined
  let lastSync: Promise<unknown> = Promise.resolve()
  /** Files whose bytes may not be on disk yet. */
  const unsynced = new Set<FileHandle>()
  /** A write that failed since the last sync. */
  let failure: { error: unknown } | undefined
  /** Why nothing works any more. */
  let end: { error: unknown } | undefined
  let storedLogBytes = logBytes

  async function writeWaiting(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const entries = waiting
      waiting = []
      try {
        await append(entries)
        for (const { written } of entries) written.resolve()
      } catch (cause) {
        const error = storageError(cause)
        await takeBack(error)
        failure = { error }
        entries.push(...waiting)
        waiting = []
        for (const { written } of entries) written.reject(error)
      }
    }
    isWriting = false
  }

  /**
   * Writes the audio first: a process killed in between leaves no line that reports too much audio.
   */
  async function append(entries: readonly Entry[]): Promise<void> {
    const sounds = entries.flatMap(({ audio }) => (audio && audio.length > 0 ? [audio] : []))
    const lines = entries.flatMap(({ lines }) => lines.map((line) => `${line}\n`))
    const text = Buffer.from(lines.join(''))
    const audioLength = sounds.reduce((sum, { length }) => sum + length, 0)
    await writeAt(audio, sounds, audioStart + audioBytes)
    await writeAt(log, [text], logBytes)
    if (audioLength > 0) unsynced.add(audio)
    if (text.length > 0) unsynced.add(log)
    audioBytes += audioLength
    logBytes += text.length
  }

  /** Removes the remains of a failed write: its lines would count after a crash. */
  async function takeBack(error: unknown): Promise<void> {
    try {
      await log.truncate(logBytes)
      await audio.truncate(audioStart + audioBytes)
    } catch {
      end ??= { error }
    }
  }

  async function syncNow(): Promise<StoredSizes> {
    nextSync = undefined
    await settled(lastWrite)
    if (end) throw end.error
    if (failure) {
      const { error } = failure
      failure = undefined
      throw error
    }
    const files = [...unsynced]
    const sizes = { audioBytes, logBytes }
    unsynced.clear()
    try {
      for (const file of files) await file.datasync()
      storedLogBytes = sizes.logBytes
      return sizes
    } catch (cause) {
      // Linux forgets what it could not write: a second sync would succeed without those bytes.
      end ??= { error: storageError(cause) }
      throw end.error
    }
  }

  return {
    get sizes() {
      return { audioBytes, logBytes }
    },
    get storedLogBytes() {
      return storedLogBytes
    },
    write(audio, lines) {
      if (end) return Promise.reject(end.error)
      if (lines.some((line) => line.includes('\n'))) throw new TypeError('a line with a line break')
      const written = Promise.withResolvers<void>()
      waiting.push({ audio, lines, written })
      lastWrite = written.promise
      if (!isWriting) void writeWaiting()
      return written.promise
    },
    sync() {
      if (!nextSync) {
        nextSync = settled(lastSync).then(syncNow)
        lastSync = nextSync
      }
      return nextSync
    },
    settled: () => settled(lastWrite),
    async close() {
      await settled(lastWrite)
      await settled(lastSync)
      end ??= { error: new Error('the session is closed') }
    },
  }
}

async function settled(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => {})
}
