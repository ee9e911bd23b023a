/** A frame of a client; without `data` a control frame, which only costs. */
export type Frame = { data?: Uint8Array | undefined; isBinary: boolean }

/** Binary frames up to this size are kept side by side: as an object each would take fifty times its bytes. */
const SMALL_BYTES = 256
const BLOCK_BYTES = 16 * 1024
/** So many that were taken are removed together. */
const SHIFTED = 1000

/** Some small binary frames behind each other. */
type Block = { bytes: Uint8Array; used: number; sizes: number[]; taken: number; offset: number }

/** Frames that were received and are not handled yet, in order. */
export class FrameQueue {
  #entries: (Frame | Block)[] = []
  #first = 0
  #length = 0

  /** How many there are. */
  get length(): number {
    return this.#length
  }

  push(frame: Frame): void {
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

  /** The first of them, which stays; undefined when there is none. */
  peek(): Frame | undefined {
    const entry = this.#entries[this.#first]
    if (!entry || !isBlock(entry)) return entry
    const { bytes, offset, sizes, taken } = entry
    return { data: bytes.subarray(offset, offset + sizes[taken]!), isBinary: true }
  }

  /** Takes the first one away. */
  shift(): void {
    const entry = this.#entries[this.#first]
    if (!entry) return
    this.#length--
    if (isBlock(entry)) {
      entry.offset += entry.sizes[entry.taken++]!
      if (entry.taken < entry.sizes.length) return
    }
    this.#entries[this.#first++] = { isBinary: true }
    // Now and then, so that a long queue is not moved for each frame.
    if (this.#first === this.#entries.length) this.clear()
    else if (this.#first === SHIFTED) {
      this.#entries.splice(0, SHIFTED)
      this.#first = 0
    }
  }

  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#length = 0
  }
}

function isBlock(entry: Frame | Block): entry is Block {
  return 'sizes' in entry
}
