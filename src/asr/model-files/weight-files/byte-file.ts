import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { WeightFileError } from './weight-file-error.ts'

/** A file that is read in pieces. */
export type ByteFile = {
  readonly path: string
  readonly size: number
  /** Returns a copy of `length` bytes. Throws `WeightFileError` past the end. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer>
  close(): void
}

/** The operating system refuses larger reads. */
const MAX_READ_BYTES = 1 << 30

/** Opens a file for reading in pieces. */
export function openBytes(path: string): ByteFile {
  const fd = openSync(path, 'r')
  const { size } = fstatSync(fd)
  return {
    path,
    size,
    read(offset, length) {
      if (offset + length > size) {
        throw new WeightFileError(`${path} is truncated: it ends at byte ${size}`)
      }
      const bytes = new Uint8Array(length)
      for (let done = 0; done < length; ) {
        const count = readSync(
          fd,
          bytes,
          done,
          Math.min(length - done, MAX_READ_BYTES),
          offset + done,
        )
        if (count === 0) throw new WeightFileError(`${path} became shorter while it was read`)
        done += count
      }
      return bytes
    },
    close: () => closeSync(fd),
  }
}
