import { createReadStream } from 'node:fs'

/** `start` is an offset, `size` a maximum; both are bytes. `readBytes` is the size of a read. */
type ReadOptions = { start?: number; size?: number | undefined; readBytes?: number }

/** Reads a file, or a part of it. The file is opened when the first bytes are requested. */
export async function* readLazily(
  path: string,
  { start = 0, size = Number.POSITIVE_INFINITY, readBytes = 64 * 1024 }: ReadOptions = {},
): AsyncGenerator<Uint8Array> {
  if (size === 0) return
  yield* createReadStream(path, { start, end: start + size - 1, highWaterMark: readBytes })
}
