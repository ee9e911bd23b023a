import type { AudioFormat } from '../audio-format.ts'
import { contradiction } from './wav-header.ts'

/**
 * A longer header than this is not that of a stream. Headers with cue lists or descriptions are
 * shorter.
 */
const MAX_HEADER_BYTES = 64 * 1024

/** The result for a chunk; `held.length + audio.length - released` are the bytes of the chunk. */
export type FilteredChunk = {
  /**
   * Audio to append; its first `released` bytes came with earlier chunks and turned out not to be a
   * header.
   */
  audio: Uint8Array
  /** The first bytes of the chunk that are a header or may become one. */
  held: Uint8Array
  released: number
}

/**
 * Removes WAV headers from the chunks of a live session: bytes at the start of a
 * chunk from `RIFF????WAVE` up to and including the header of its `data` chunk. A header may be
 * split over chunks.
 */
export type HeaderFilter = {
  /**
   * Takes the next chunk, or returns why it is rejected: its header contradicts the session, or is
   * too long. A rejected chunk leaves the filter unchanged.
   */
  write(chunk: Uint8Array): FilteredChunk | { problem: string }
  /** Bytes that may be the beginning of a header; a filter can be restored from them. */
  readonly pending: Uint8Array
  /** Ends the input: returns the pending bytes that are audio after all. */
  end(): Uint8Array
}

const nothing = new Uint8Array(0)

/** Creates a filter; `pending` restores one. */
export function createHeaderFilter(
  format: AudioFormat,
  pending: Uint8Array = nothing,
): HeaderFilter {
  let waiting: Uint8Array = pending

  /** Filters a chunk together with the waiting bytes, which may begin a header. */
  function take(chunk: Uint8Array): FilteredChunk | { problem: string } {
    const bytes = joinBytes(waiting, chunk)
    const header = readHeader(bytes, format)
    if (typeof header === 'object') return header
    if (header === 'incomplete') {
      waiting = bytes
      return { audio: nothing, held: chunk, released: 0 }
    }
    // The waiting bytes were not a header, but this chunk may begin one.
    if (header === 0 && waiting.length > 0) return takeAlone(chunk)
    const headerBytes = chunk.subarray(0, header - waiting.length)
    waiting = nothing
    return { audio: chunk.subarray(headerBytes.length), held: headerBytes, released: 0 }
  }

  function takeAlone(chunk: Uint8Array): FilteredChunk | { problem: string } {
    const released = waiting
    waiting = nothing
    const bodyBytes = take(chunk)
    if ('problem' in bodyBytes) waiting = released
    else
      return {
        ...bodyBytes,
        audio: joinBytes(released, bodyBytes.audio),
        released: released.length,
      }
    return bodyBytes
  }

  return {
    write(chunk) {
      if (chunk.length > 0) return take(chunk)
      return { audio: nothing, held: nothing, released: 0 }
    },
    get pending() {
      return waiting
    },
    end() {
      const audio = mayBegin(waiting) && waiting.length >= 12 ? nothing : waiting
      waiting = nothing
      return audio
    },
  }
}

/**
 * Returns the length of the header that `bytes` begin with, 0 for none. Sizes are trusted only for
 * finding the next chunk: those of RIFF and `data` are mere guesses where a header precedes a
 * stream.
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
      const contradictionText = contradiction(bytes.subarray(body, body + size), format)
      if (contradictionText)
        return { problem: `the WAV header contradicts the session: ${contradictionText}` }
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
