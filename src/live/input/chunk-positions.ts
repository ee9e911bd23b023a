import type { AudioFormat } from '../../audio/audio-format.ts'
import { createHeaderFilter, type HeaderFilter } from '../../audio/containers/header-filter.ts'
import type { ChunkRecord } from '../journal/log-records.ts'
import { secondsOfAudio } from './session-format.ts'

/** An accepted chunk: the content of its acknowledgment, and what is to be stored of it. */
export type AcceptedChunk = {
  byteRange: [number, number]
  timeRange: [number, number]
  /** Absent if all of it was already stored. */
  stored?: { audio: Uint8Array; chunk: ChunkRecord } | undefined
}

/** The chunks that an earlier process accepted. */
export type EarlierChunks = {
  /** The chunks that a client may repeat. */
  recent: ChunkRecord[]
  /** The last chunk before those. */
  before: ChunkRecord
  /** Bytes held back because they may be the start of a WAV header, see `HeaderFilter`. */
  pending: Uint8Array
  /** The ends of chunks that were repeated. */
  ackBoundaries: AckBoundary[]
}

/**
 * A session byte (`received`) at which an acknowledgment ended, though no stored chunk does. `at`
 * is its time in milliseconds since 1970.
 */
export type AckBoundary = { at: number; received: number }

/** `keepSeconds` is how far back a client may repeat what it sent. */
export type ChunkPositionsOptions = {
  format: AudioFormat
  keepSeconds: number
  earlier: EarlierChunks | undefined
}

/**
 * Repeats are searched in this many bytes, which is more than a client sends at once. The compared
 * bytes are in memory, stored and repeated ones: at most twice as many.
 */
const MAX_REPEATED_BYTES = 64 * 1024 * 1024

/**
 * Assigns each chunk its range in the session, in bytes and seconds, and removes WAV headers. A
 * chunk that repeats stored bytes, as the first ones of a resumed connection do, gets its original
 * range, and is stored only once.
 */
export class ChunkPositions {
  readonly #format: AudioFormat
  readonly #keepMs: number
  readonly #filter: HeaderFilter
  /** Chunks that a client may repeat, and the one before them. */
  readonly #recent: ChunkRecord[]
  #before: ChunkRecord
  readonly #ackBoundaries: AckBoundary[]
  #receivedBytes: number
  #audioBytes: number
  /** Session byte at which the next chunk belongs. */
  #next: number

  constructor({ format, keepSeconds, earlier }: ChunkPositionsOptions) {
    const { recent = [], before = startPosition, ackBoundaries = [], pending } = earlier ?? {}
    const { received, audio } = recent.at(-1) ?? before
    this.#format = format
    this.#keepMs = keepSeconds * 1000
    this.#filter = createHeaderFilter(format, pending)
    this.#recent = recent
    this.#before = before
    this.#ackBoundaries = ackBoundaries
    this.#receivedBytes = received
    this.#audioBytes = audio
    this.#next = received
  }

  /** Bytes received, including headers but not repeats. */
  get received(): number {
    return this.#receivedBytes
  }

  /** Bytes of audio, without headers. */
  get audioBytes(): number {
    return this.#audioBytes
  }

  /**
   * Adds a chunk that arrived at a time in milliseconds since 1970. `problem` is why its header is
   * refused.
   */
  add(bytes: Uint8Array, at: number): AcceptedChunk | { problem: string } {
    const from = this.#next
    const to = from + bytes.length
    const isRepeated = bytes.length > 0 && to <= this.#receivedBytes
    const newBytes = bytes.subarray(Math.max(0, this.#receivedBytes - from))
    if (isRepeated || bytes.length === 0) {
      this.#next = to
      if (isRepeated) this.#ackBoundaries.push({ at, received: to })
      return { byteRange: [from, to], timeRange: [this.#timeAt(from), this.#timeAt(to)] }
    }
    const start = this.#timeAt(from)
    const filtered = this.#filter.write(newBytes)
    if ('problem' in filtered) return filtered
    const { audio, held, released } = filtered
    const { pending } = this.#filter
    this.#receivedBytes = to
    this.#audioBytes += audio.length
    this.#next = to
    const chunk: ChunkRecord = {
      at,
      received: to,
      audio: this.#audioBytes,
      ...(held.length > 0 && { held: Buffer.from(held).toString('base64') }),
      ...(released > 0 && { released }),
      ...(newBytes.length < bytes.length && { isPart: true as const }),
      ...(pending.length > 0 && { pending: pending.length }),
    }
    this.#record(chunk)
    const timeRange: [number, number] = [start, this.#timeAt(to)]
    return { byteRange: [from, to], timeRange, stored: { audio, chunk } }
  }

  /** Ends the input: bytes held back as the start of a possible header are audio after all. */
  end(at: number): AcceptedChunk['stored'] {
    const audio = this.#filter.end()
    if (audio.length === 0) return undefined
    this.#audioBytes += audio.length
    const released = audio.length
    // These bytes were acknowledged when they arrived.
    const chunk = {
      at,
      received: this.#receivedBytes,
      audio: this.#audioBytes,
      released,
      isPart: true as const,
    }
    this.#record(chunk)
    return { audio, chunk }
  }

  /** Sets the session byte at which the next chunk belongs. */
  continueAt(next: number): void {
    this.#next = next
  }

  /**
   * Returns the session bytes at which a client may resume, ascending, and the chunks from there
   * on; see `readChunks`.
   */
  repeatable(): { from: ChunkRecord; chunks: ChunkRecord[]; boundaries: number[] } {
    const first = this.#receivedBytes - MAX_REPEATED_BYTES
    const positions = [this.#before, ...this.#recent]
    const start = positions.findIndex(({ received }) => received >= first)
    const from = positions[start]!
    const chunks = positions.slice(start + 1)
    const ends = [...chunks, ...this.#ackBoundaries].map(({ received }) => received)
    const within = ends.filter((end) => end > from.received && end < this.#receivedBytes)
    const boundaries = [...new Set([from.received, ...within])].sort((a, b) => a - b)
    return { from, chunks, boundaries }
  }

  #record(chunk: ChunkRecord): void {
    this.#recent.push(chunk)
    const since = chunk.at - this.#keepMs
    this.#before = dropOlder(this.#recent, since) ?? this.#before
    dropOlder(this.#ackBoundaries, since)
  }

  /** Returns the seconds of audio before a session byte. */
  #timeAt(byte: number): number {
    return secondsOfAudio(this.#audioAt(byte), this.#format)
  }

  #audioAt(byte: number): number {
    if (byte >= this.#receivedBytes) return this.#audioBytes
    const { received, audio } = this.#before
    // The positions of headers in older bytes are forgotten, so this is an estimate: most sessions
    // have one header, or none.
    if (byte < received) return byte * (audio / received)
    const after = firstEndingAfter(this.#recent, byte)
    const chunk = this.#recent[after]!
    const before = this.#recent[after - 1] ?? this.#before
    return Math.max(before.audio, chunk.audio - (chunk.received - byte))
  }
}

/**
 * Drops entries older than `since` from the start of `list`, all at once: after a pause there may
 * be tens of thousands. Returns the last one dropped.
 */
export function dropOlder<T extends { at: number }>(list: T[], since: number): T | undefined {
  const firstKept = list.findIndex(({ at }) => at >= since)
  if (firstKept === 0) return undefined
  return list.splice(0, firstKept === -1 ? list.length : firstKept).at(-1)
}

/** Returns the index of the first chunk that ends after a session byte. */
function firstEndingAfter(chunks: readonly ChunkRecord[], byte: number): number {
  let [low, high] = [0, chunks.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (chunks[middle]!.received > byte) high = middle
    else low = middle + 1
  }
  return low
}

/** The position before the first chunk. */
const startPosition: ChunkRecord = { at: 0, received: 0, audio: 0 }

/**
 * Rebuilds the bytes of chunks as the client sent them, with headers; `readAudio(from, to)`
 * reads stored audio by byte offset.
 */
export async function readChunks(
  { from, chunks }: { from: ChunkRecord; chunks: readonly ChunkRecord[] },
  readAudio: (from: number, to: number) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const audio = await readAudio(from.audio, chunks.at(-1)?.audio ?? from.audio)
  let before = from
  const parts: Uint8Array[] = []
  for (const chunk of chunks) {
    const fromByte = before.audio + (chunk.released ?? 0) - from.audio
    if (chunk.held) parts.push(Buffer.from(chunk.held, 'base64'))
    parts.push(audio.subarray(fromByte, chunk.audio - from.audio))
    before = chunk
  }
  return Buffer.concat(parts)
}
