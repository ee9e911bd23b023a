import type { AudioFormat } from '../audio-format.ts'
import { findContradiction } from './wav-header.ts'

/** Maximum length of a header. Those with cue lists or descriptions are shorter. */
const MAX_HEADER_BYTES = 64 * 1024

/** The result of a chunk, whose bytes are `held.length + audio.length - released`. */
export type FilteredChunk = {
  /** Audio to append. Its first `released` bytes came with earlier chunks, and are not a header. */
  audio: Uint8Array
  /** The first bytes of the chunk that are a header or may become one. */
  held: Uint8Array
  released: number
}

/**
 * Removes WAV headers from the chunks of a live session. A header starts at the start of a chunk
 * with `RIFF????WAVE`, and ends with the header of its `data` chunk. It may be split over chunks.
 */
export type HeaderFilter = {
  /**
   * Filters the next chunk, or returns why it is rejected: its header contradicts the session, or
   * is too long. A rejected chunk leaves the filter unchanged.
   */
  write(chunk: Uint8Array): FilteredChunk | { problem: string }
  /** Bytes that may be the beginning of a header; a filter can be restored from them. */
  readonly pending: Uint8Array
  /** Ends the input: returns the pending bytes that are audio after all. */
  end(): Uint8Array
}

const noBytes = new Uint8Array(0)

/** Creates a filter; `pending` restores the state of an earlier one. */
export function createHeaderFilter(
  format: AudioFormat,
  pending: Uint8Array = noBytes,
): HeaderFilter {
  let pendingBytes: Uint8Array = pending

  /** Filters a chunk together with the pending bytes, which may begin a header. */
  function filterChunk(chunk: Uint8Array): FilteredChunk | { problem: string } {
    const bytes = joinBytes(pendingBytes, chunk)
    const header = readHeader(bytes, format)
    if (typeof header === 'object') return header
    if (header === 'incomplete') {
      pendingBytes = bytes
      return { audio: noBytes, held: chunk, released: 0 }
    }
    // The pending bytes are not a header, but this chunk may begin one.
    if (header === 0 && pendingBytes.length > 0) return filterWithoutPending(chunk)
    const headerBytes = chunk.subarray(0, header - pendingBytes.length)
    pendingBytes = noBytes
    return { audio: chunk.subarray(headerBytes.length), held: headerBytes, released: 0 }
  }

  function filterWithoutPending(chunk: Uint8Array): FilteredChunk | { problem: string } {
    const released = pendingBytes
    pendingBytes = noBytes
    const filtered = filterChunk(chunk)
    if ('problem' in filtered) pendingBytes = released
    else
      return {
        ...filtered,
        audio: joinBytes(released, filtered.audio),
        released: released.length,
      }
    return filtered
  }

  return {
    write(chunk) {
      if (chunk.length > 0) return filterChunk(chunk)
      return { audio: noBytes, held: noBytes, released: 0 }
    },
    get pending() {
      return pendingBytes
    },
    end() {
      const audio = mayBegin(pendingBytes) && pendingBytes.length >= 12 ? noBytes : pendingBytes
      pendingBytes = noBytes
      return audio
    },
  }
}

/**
 * Returns the length of the header that `bytes` begin with, 0 for none. Sizes are trusted only for
 * finding the next chunk: those of RIFF and `data` are often wrong if a header precedes a stream.
 */
function readHeader(
  bytes: Uint8Array,
  format: AudioFormat,
): number | 'incomplete' | { problem: string } {
  if (!mayBegin(bytes)) return 0
  const fields = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let hasFormat = false
  for (let at = 12; at + 8 <= MAX_HEADER_BYTES; ) {
    if (bytes.length < at + 8) return 'incomplete'
    const size = fields.getUint32(at + 4, true)
    const body = at + 8
    if (isAt(bytes, 'data', at)) {
      return hasFormat ? body : { problem: 'the WAV header states no format' }
    }
    if (isAt(bytes, 'fmt ', at) && body + size <= MAX_HEADER_BYTES) {
      if (bytes.length < body + size) return 'incomplete'
      const difference = findContradiction(bytes.subarray(body, body + size), format)
      if (difference) return { problem: `the WAV header contradicts the session: ${difference}` }
      hasFormat = true
    }
    at = body + size + (size % 2)
  }
  return { problem: `the WAV header is longer than ${MAX_HEADER_BYTES} bytes` }
}

/** Returns whether `bytes` are the beginning of `RIFF????WAVE`, or begin with it. */
function mayBegin(bytes: Uint8Array): boolean {
  return isAt(bytes, 'RIFF', 0) && isAt(bytes, 'WAVE', 8)
}

/** Returns whether `name` is at position `at`, or its beginning if the bytes end there. */
function isAt(bytes: Uint8Array, name: string, at: number): boolean {
  const end = Math.min(name.length, bytes.length - at)
  for (let i = 0; i < end; i++) if (bytes[at + i] !== name.charCodeAt(i)) return false
  return true
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second
  return Buffer.concat([first, second])
}
