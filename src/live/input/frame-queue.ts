/**
 * A frame of a client. A control frame has no `data`; it only costs credit, see `FrameScheduler`.
 */
export type SocketFrame = { data?: Uint8Array | undefined; isBinary: boolean }

/**
 * Binary frames up to this size share a block: as an object of its own, each would take fifty times
 * its bytes.
 */
const SMALL_BYTES = 256
const BLOCK_BYTES = 16 * 1024
/** Handled entries are removed in batches of this size. */
const SHIFT_BATCH = 1000

/**
 * Consecutive small binary frames. `used` bytes are filled; `taken` frames are handled, and the
 * next frame starts at `offset`.
 */
type Block = { bytes: Uint8Array; used: number; sizes: number[]; taken: number; offset: number }

/** Received frames that are not handled yet, in order. */
export class FrameQueue {
  #entries: (SocketFrame | Block)[] = []
  #first = 0
  #length = 0

  /** The number of frames. */
  get length(): number {
    return this.#length
  }

  push(frame: SocketFrame): void {
    this.#length++
    const { data, isBinary } = frame
    if (!data || !isBinary || data.length > SMALL_BYTES) {
      this.#entries.push(frame)
      return
    }
    let block = this.#entries.at(-1)
    if (!block || !isBlock(block) || block.used + data.length > BLOCK_BYTES) {
      block = { bytes: new Uint8Array(BLOCK_BYTES), used: 0, sizes: [], taken: 0, offset: 0 }
      this.#entries.push(block)
    }
    block.bytes.set(data, block.used)
    block.used += data.length
    block.sizes.push(data.length)
  }

  /** Returns the first frame, which stays in the queue; undefined when the queue is empty. */
  peek(): SocketFrame | undefined {
    const entry = this.#entries[this.#first]
    if (!entry || !isBlock(entry)) return entry
    const { bytes, offset, sizes, taken } = entry
    return { data: bytes.subarray(offset, offset + sizes[taken]!), isBinary: true }
  }

  /** Removes the first frame. */
  shift(): void {
    const entry = this.#entries[this.#first]
    if (!entry) return
    this.#length--
    if (isBlock(entry)) {
      entry.offset += entry.sizes[entry.taken++]!
      if (entry.taken < entry.sizes.length) return
    }
    this.#entries[this.#first++] = { isBinary: true }
    // Removed in batches, so that a long queue is not moved for each frame.
    if (this.#first === this.#entries.length) this.clear()
    else if (this.#first === SHIFT_BATCH) {
      this.#entries.splice(0, SHIFT_BATCH)
      this.#first = 0
    }
  }

  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#length = 0
  }
}

function isBlock(entry: SocketFrame | Block): entry is Block {
  return 'sizes' in entry
}
