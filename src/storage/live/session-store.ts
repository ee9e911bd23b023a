import type { LogLine } from '../objects/disk/file-io.ts'

/** Bytes of the audio and of the log of a session. */
export type SessionSizes = { audioBytes: number; logBytes: number }

/**
 * Where the audio and the log of one live session are stored; both are append-only, and one process
 * writes at a time. The data of one `write` call counts as a whole or not at all. If a write fails,
 * for example because the disk is full, those waiting behind it fail, too, because their lines may
 * refer to it; later writes may succeed again. After a failed `sync` every call fails: it is
 * unknown what is durable.
 *
 * `test/support/live/stores/session-store-conformance.ts` checks an implementation.
 */
export type SessionStore = {
  /** Bytes of audio written, and of the log. */
  readonly audioBytes: number
  readonly logBytes: number
  /**
   * Appends audio, then the log lines that report it. Resolves when both are written: a killed
   * process loses nothing of it. Calls keep their order; waiting ones are joined into one write.
   * The bytes of `audio` must not change until then.
   */
  write(audio: Uint8Array | undefined, lines: readonly string[]): Promise<void>
  /**
   * Resolves when all earlier writes are durable, to the durable sizes; fails if one of these
   * writes failed since the last sync. Concurrent calls share a sync.
   */
  sync(): Promise<SessionSizes>
  /** Reads audio from byte `from` up to byte `to`, which must have been written. */
  readAudio(from: number, to: number): Promise<Uint8Array>
  /**
   * Reads all lines in order, some hundred at a time, including everything passed to `write` before
   * the first is requested.
   */
  readLines(): AsyncGenerator<string[]>
  /** Reads the lines that are durable, from byte `start` of the log, where a line must begin. */
  readDurableLines(start: number): AsyncGenerator<LogLine[]>
  /** Waits for all earlier writes; later ones fail. */
  close(): Promise<void>
  /** Deletes the stored data, if there is any; the session must be closed. */
  delete(): Promise<void>
}
