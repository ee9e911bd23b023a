import type { ByteSource } from '../byte-source.ts'
import { readAdtsFrame } from '../frame-sync.ts'
import { type FilePart, MAX_PARTS, partsFrom } from './file-part.ts'

/** The bytes that are read at once. */
const BLOCK_BYTES = 1024 * 1024
/** The bytes of a frame header that are needed. */
const HEADER_BYTES = 6

/**
 * Returns the parts of a stream of AAC frames that differ in their rate: libav measures them all by
 * the rate of the first. Returns no parts for any other file.
 */
export function findAacLinks(source: ByteSource): FilePart[] {
  const starts: number[] = []
  let rate: number | undefined
  for (const { at, rate: next } of framesOf(source)) {
    if (next === rate) continue
    starts.push(at)
    rate = next
    if (starts.length === MAX_PARTS) break
  }
  return partsFrom(starts, source.size)
}

/** Yields the frames that follow one another from the start, with the index of their rate. */
function* framesOf(source: ByteSource): Generator<{ at: number; rate: number }> {
  let block = source.read(0, BLOCK_BYTES)
  let blockStart = 0
  for (let at = 0; ; ) {
    if (at + HEADER_BYTES > blockStart + block.length) {
      block = source.read(at, BLOCK_BYTES)
      blockStart = at
    }
    const header = block.subarray(at - blockStart, at - blockStart + HEADER_BYTES)
    const frame = header.length < HEADER_BYTES ? undefined : readAdtsFrame(header)
    if (!frame) return
    yield { at, rate: frame.rate }
    at += frame.length
  }
}
