/** Bytes per millisecond of mu-law at 8 kHz. */
const BYTES_PER_MS = 8
/** The byte of silence in mu-law. */
const SILENCE = 0xff
/** Differences up to this are jitter of the times that chunks carry. */
const JITTER_BYTES = 60 * BYTES_PER_MS
/** A track that is this far behind the other is silent, or not sent at all. */
const MAX_LAG_BYTES = 1000 * BYTES_PER_MS
/** A gap is filled up to this length; the times of a longer one are wrong. */
const MAX_GAP_BYTES = 60_000 * BYTES_PER_MS

type Track = { end: number; waiting: Buffer[]; waitingBytes: number }

/**
 * Joins the tracks of a call into interleaved channels of mu-law at 8 kHz. Chunks are placed by
 * their times: gaps become silence, and what comes twice counts once.
 */
export class TrackMixer {
  readonly #tracks: Track[]

  constructor(count: number) {
    this.#tracks = Array.from({ length: count }, () => ({ end: 0, waiting: [], waitingBytes: 0 }))
  }

  /** Adds a chunk of a track that begins at `ms`; returns what all tracks have by now. */
  add(index: number, chunk: Buffer, ms: number | undefined): Buffer {
    const track = this.#tracks[index]!
    const behind = ms === undefined ? 0 : ms * BYTES_PER_MS - track.end
    if (behind > JITTER_BYTES && behind <= MAX_GAP_BYTES) append(track, silence(behind))
    const known = behind < -JITTER_BYTES ? Math.min(-behind, chunk.length) : 0
    append(track, chunk.subarray(known))
    for (const other of this.#tracks) {
      const lag = track.end - other.end
      if (lag > MAX_LAG_BYTES) append(other, silence(lag - MAX_LAG_BYTES))
    }
    return this.#take(Math.min(...this.#tracks.map(({ waitingBytes }) => waitingBytes)))
  }

  /** Returns the rest, with silence where a track has ended before another. */
  finish(): Buffer {
    const longest = Math.max(...this.#tracks.map(({ waitingBytes }) => waitingBytes))
    for (const track of this.#tracks) append(track, silence(longest - track.waitingBytes))
    return this.#take(longest)
  }

  #take(count: number): Buffer {
    const mixed = Buffer.allocUnsafe(count * this.#tracks.length)
    for (const [channel, track] of this.#tracks.entries()) {
      const all = Buffer.concat(track.waiting)
      for (let i = 0; i < count; i++) mixed[i * this.#tracks.length + channel] = all[i]!
      track.waiting = [all.subarray(count)]
      track.waitingBytes -= count
    }
    return mixed
  }
}

function append(track: Track, bytes: Buffer): void {
  if (bytes.length === 0) return
  track.waiting.push(bytes)
  track.waitingBytes += bytes.length
  track.end += bytes.length
}

function silence(bytes: number): Buffer {
  return Buffer.alloc(bytes, SILENCE)
}
