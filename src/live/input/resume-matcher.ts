/** The bytes that arrived before a connection was lost, from session byte `from` on. */
export type ReceivedBytes = {
  from: number
  /** Bytes as the client sent them, with headers. */
  stored: Uint8Array
  /**
   * Session bytes at which chunks ended, ascending: the client may have received the acknowledgment
   * of any of them last.
   */
  boundaries: readonly number[]
}

/** Finds which bytes of the lost connection a resumed connection repeats. */
export type ResumeMatcher = {
  /**
   * Processes arriving bytes. Returns the session byte at which the first arrived byte belongs,
   * which is the end of the stored bytes if nothing was repeated; undefined if more bytes are
   * needed to decide.
   */
  write(bytes: Uint8Array): number | undefined
  /** Decides by the bytes that have arrived, because no more arrive in time. */
  decide(): number
}

/**
 * Looks for the oldest boundary whose following stored bytes are an exact prefix of what arrives.
 * This is a Knuth–Morris–Pratt search for the arriving bytes in the stored ones, continued to the
 * end of these: `start` is the boundary that is being tried, and `matched` bytes agree after it. At
 * a mismatch, the borders of the matched part determine which later start can still match, so that
 * repetitive audio costs no more than one pass. Borders, the most expensive part, are computed only
 * as far as bytes agreed: with a microphone for a byte or two, and not at all in the silence of a
 * muted one, where every byte equals the first.
 */
export function createResumeMatcher({ from, stored, boundaries }: ReceivedBytes): ResumeMatcher {
  const audio = Buffer.from(stored.buffer, stored.byteOffset, stored.length)
  // Silence matches any other silence: a match of the final silence alone would prove nothing.
  const silenceFrom = silenceStart(audio)
  const starts = boundaries.map((at) => at - from).filter((at) => at >= 0 && at < silenceFrom)
  const arrived = createArrivedBytes(audio.length - (starts[0] ?? audio.length))
  let startIndex = 0
  let start = starts[0]
  let matched = 0

  function search(isOver: boolean): number | undefined {
    while (start !== undefined) {
      matched += commonLength(audio.subarray(start + matched), arrived.after(matched))
      if (start + matched === audio.length) return from + start
      if (matched === arrived.length && !isOver) return undefined
      tryNext(start + matched)
    }
    return from + audio.length
  }

  /**
   * Continues with the next boundary that lies at `reached` or after it, or from which all stored
   * bytes up to `reached` match.
   */
  function tryNext(reached: number): void {
    startIndex++
    if (matched <= arrived.run) {
      matched = Math.max(0, reached - (starts[startIndex] ?? reached))
    } else {
      do {
        matched = arrived.border(matched)
        while (startIndex < starts.length && starts[startIndex]! < reached - matched) startIndex++
      } while (matched > 0 && starts[startIndex] !== reached - matched)
    }
    start = starts[startIndex]
  }

  return {
    write(bytes) {
      arrived.add(bytes)
      return search(false)
    },
    decide: () => search(true)!,
  }
}

/**
 * Collects the first `limit` bytes that arrive, and their borders: strings that such a prefix both
 * begins and ends with.
 */
function createArrivedBytes(limit: number) {
  let bytes = Buffer.alloc(0)
  let length = 0
  /** The number of bytes at the start that equal the first one. */
  let run = 0
  /** The longest border of the prefix of each length up to `computedBorders`. */
  let borders = new Uint32Array(2)
  let computedBorders = 1

  return {
    get length() {
      return length
    },
    get run() {
      return run
    },
    after: (start: number): Buffer => bytes.subarray(start, length),
    add(newBytes: Uint8Array): void {
      const keptBytes = newBytes.subarray(0, limit - length)
      if (length + keptBytes.length > bytes.length) {
        const larger = Buffer.alloc(
          Math.min(limit, Math.max(2 * bytes.length, length + keptBytes.length)),
        )
        larger.set(bytes.subarray(0, length))
        bytes = larger
      }
      bytes.set(keptBytes, length)
      const isRun = run === length
      length += keptBytes.length
      if (!isRun || length === 0) return
      const comparedFrom = Math.max(1, run)
      run =
        comparedFrom +
        commonLength(bytes.subarray(comparedFrom, length), bytes.subarray(comparedFrom - 1, length))
    },
    /** Returns the length of the longest border of the first `prefix` bytes. */
    border(prefix: number): number {
      if (prefix >= borders.length) {
        const larger = new Uint32Array(Math.min(limit, 2 * prefix) + 1)
        larger.set(borders)
        borders = larger
      }
      for (; computedBorders < prefix; computedBorders++) {
        const byte = bytes[computedBorders]
        let border = borders[computedBorders]!
        while (border > 0 && bytes[border] !== byte) border = borders[border]!
        borders[computedBorders + 1] = bytes[border] === byte ? border + 1 : 0
      }
      return borders[prefix]!
    },
  }
}

/** This many bytes are compared one by one before a native call pays off. */
const BYTEWISE_LENGTH = 32

/**
 * Returns the length of the common prefix; compares in steps that grow while the bytes are equal.
 */
function commonLength(first: Buffer, second: Buffer): number {
  const length = Math.min(first.length, second.length)
  let done = 0
  for (let step = BYTEWISE_LENGTH; done < length; ) {
    const end = Math.min(done + step, length)
    if (step > BYTEWISE_LENGTH && first.compare(second, done, end, done, end) !== 0) {
      step = Math.max(BYTEWISE_LENGTH, step >> 2)
      continue
    }
    if (step === BYTEWISE_LENGTH) {
      for (; done < end; done++) if (first[done] !== second[done]) return done
    }
    done = end
    step *= 2
  }
  return length
}

/** Returns the start of the final run of equal bytes. */
function silenceStart(bytes: Buffer): number {
  const last = bytes.at(-1)
  let start = bytes.length
  const block = Buffer.alloc(4096, last)
  while (
    start >= block.length &&
    bytes.compare(block, 0, block.length, start - block.length, start) === 0
  ) {
    start -= block.length
  }
  while (start > 0 && bytes[start - 1] === last) start--
  return start
}
