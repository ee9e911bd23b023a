import type { FileHandle } from 'node:fs/promises'
import { throwStorageError } from '../../data-folder/storage-error.ts'

/** Writes all bytes consecutively, starting at `position`. */
export async function writeAt(
  handle: FileHandle,
  bytes: readonly Uint8Array[],
  position: number,
): Promise<void> {
  let unwrittenParts = bytes.filter(({ length }) => length > 0)
  for (let at = position; unwrittenParts.length > 0; ) {
    let { bytesWritten } = await handle.writev(unwrittenParts, at)
    at += bytesWritten
    unwrittenParts = unwrittenParts.flatMap((part) => {
      const unwrittenBytes = part.subarray(bytesWritten)
      bytesWritten = Math.max(0, bytesWritten - part.length)
      return unwrittenBytes.length > 0 ? [unwrittenBytes] : []
    })
  }
}

/** Returns the bytes from `from` up to `to`, fewer if the file ends before. */
export async function readAt(
  handle: FileHandle,
  { from, to }: { from: number; to: number },
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(to - from)
  let length = 0
  while (length < bytes.length) {
    const { bytesRead } = await handle
      .read(bytes, length, bytes.length - length, from + length)
      .catch(throwStorageError)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}

/**
 * Bytes that are read at once: some hundred lines, so that parsing them does not block the event
 * loop.
 */
const CHUNK_BYTES = 64 * 1024
const NEWLINE = 10

/** A line of a log, and the byte of the log where it ends. */
export type LogLine = { text: string; end: number }

/** Yields the complete lines of a log from byte `start`, where a line begins, up to byte `size`. */
export async function* readLogLines(
  log: FileHandle,
  { start: first = 0, size }: { start?: number; size: number },
): AsyncGenerator<LogLine[]> {
  let length = CHUNK_BYTES
  for (let from = first; from < size; ) {
    const chunk = await readAt(log, { from, to: Math.min(size, from + length) })
    const lines: LogLine[] = []
    let start = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end === -1) break
      lines.push({ text: chunk.toString('utf8', start, end), end: from + end + 1 })
      start = end + 1
    }
    if (lines.length > 0) yield lines
    else if (from + length >= size) return
    // A line that is longer than a chunk is read again in a larger chunk.
    length = lines.length > 0 ? CHUNK_BYTES : 2 * length
    from += start
  }
}
