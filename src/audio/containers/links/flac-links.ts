import type { ByteSource } from '../byte-source.ts'
import { type FilePart, MAX_PARTS, partsFrom } from './file-part.ts'

/** The start of a FLAC file: its marker and the header of its first block (RFC 9639, section 8). */
const STARTS = [0, 0x80].map((isLast) => Buffer.from([...Buffer.from('fLaC'), isLast, 0, 0, 34]))
const START_BYTES = 8
/** The bytes that are searched at once. */
const BLOCK_BYTES = 1024 * 1024

/**
 * Returns the FLAC files that were joined byte by byte to this one: libav reads only the first.
 * Returns no parts for a file that is a single one.
 */
export function findFlacLinks(source: ByteSource): FilePart[] {
  return partsFrom([...findStarts(source)], source.size)
}

function* findStarts(source: ByteSource): Generator<number> {
  let count = 0
  for (let from = 0; from < source.size; from += BLOCK_BYTES) {
    // A start may lie across two blocks.
    const block = Buffer.from(source.read(from, BLOCK_BYTES + START_BYTES - 1))
    for (let at = block.indexOf('fLaC'); at >= 0; at = block.indexOf('fLaC', at + 1)) {
      const start = block.subarray(at, at + START_BYTES)
      if (at >= BLOCK_BYTES || !STARTS.some((known) => known.equals(start))) continue
      yield from + at
      if (++count === MAX_PARTS) return
    }
  }
}
