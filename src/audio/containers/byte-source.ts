import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { AppError } from '../../errors.ts'

/** Bytes that can be read at any offset; a read beyond the end returns fewer. */
export type ByteSource = { readonly size: number; read(offset: number, length: number): Uint8Array }

/** Creates a source of bytes in memory. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, Math.min(bytes.length, offset + length)),
  }
}

/** Creates a source of the bytes after the first `start` bytes of another. */
export function sourceAfter(source: ByteSource, start: number): ByteSource {
  return {
    size: source.size - start,
    read: (offset, length) => source.read(start + offset, length),
  }
}

/**
 * Opens a source that reads from a file, synchronously: only decoder processes may use it. Throws
 * `storage_unreadable` if the system cannot open or read the file. The caller must close it.
 */
export function openFileSource(path: string): ByteSource & { close(): void } {
  const descriptor = withReadErrors(() => openSync(path, 'r'))
  const { size } = withReadErrors(() => fstatSync(descriptor))
  return {
    size,
    read(offset, length) {
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - offset)))
      let filled = 0
      while (filled < bytes.length) {
        const position = offset + filled
        const count = withReadErrors(() =>
          readSync(descriptor, bytes, { offset: filled, position }),
        )
        if (count === 0) break
        filled += count
      }
      return bytes.subarray(0, filled)
    },
    close: () => closeSync(descriptor),
  }
}

/**
 * Runs `read`, and reports only the code of an error, because the system's message contains the
 * path.
 */
function withReadErrors<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new AppError('storage_unreadable', `the recording (${code})`, { cause })
  }
}
