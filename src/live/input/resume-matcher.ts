/** What a lost connection left, from session byte `from` on. */
export type StoredBytes = {
  from: number
  /** Bytes as the client sent them, headers and all. */
  stored: Uint8Array
  /** Session bytes up to which chunks went, ascending: the client may have seen any of them acknowledged last. */
  boundaries: readonly number[]
}

/** Finds what a resumed connection repeats of what the lost one had brought (contract 5.10). */
export type ResumeMatcher = {
  /**
   * Takes what arrives. A number: the session byte at which the first arrived byte belongs (the end =
   * nothing was repeated); undefined: more bytes must arrive to tell.
   */
  write(bytes: Uint8Array): number | undefined
  /** No more will arrive in time: decides on what is there. */
  decide(): number
}

/**
 * Looks for the oldest boundary whose following stored bytes are an exact prefix of what arrives. That
 * is the search of Knuth, Morris and Pratt for the arriving bytes in the stored ones, held out to the
 * end of these: `start` is the boundary that is being tried, and `matched` bytes agree behind it. Where
 * they cease to agree, the borders of what did agree tell which later start can hold still, so that
 * sound that repeats itself costs no more than a pass over it. Borders, the dearest part, are worked
 * out only as far as bytes agreed: with a microphone for a byte or two, and not at all in the silence of
 * a muted one, where every byte is like the first.
 */
export function createResumeMatcher({ from, stored, boundaries }: StoredBytes): ResumeMatcher {
  const sound = Buffer.from(stored.buffer, stored.byteOffset, stored.length)
  // Silence is like any other silence: where nothing else follows, a match would tell nothing.
  const silence = silenceStart(sound)
  const starts = boundaries.map((at) => at - from).filter((at) => at >= 0 && at < silence)
  const arrived = createArrived(sound.length - (starts[0] ?? sound.length))
  let next = 0
  let start = starts[0]
  let matched = 0

  function search(isOver: boolean): number | undefined {
    while (start !== undefined) {
      matched += commonLength(sound.subarray(start + matched), arrived.after(matched))
      if (start + matched === sound.length) return from + start
      if (matched === arrived.length && !isOver) return undefined
      tryNext(start + matched)
    }
    return from + sound.length
  }

  /** Goes on with the next boundary from which all still agrees up to `reached`, or that lies behind it. */
  function tryNext(reached: number): void {
    next++
    if (matched <= arrived.run) {
      matched = Math.max(0, reached - (starts[next] ?? reached))
    } else {
      do {
        matched = arrived.border(matched)
        while (next < starts.length && starts[next]! < reached - matched) next++
      } while (matched > 0 && starts[next] !== reached - matched)
    }
    start = starts[next]
  }

  return {
    write(bytes) {
      arrived.add(bytes)
      return search(false)
    },
    decide: () => search(true)!,
  }
}

/** The first `limit` bytes that arrive, and their borders: what such a prefix both begins and ends with. */
function createArrived(limit: number) {
  let bytes = Buffer.alloc(0)
  let length = 0
  /** How many bytes are like the first. */
  let run = 0
  /** Longest border of the prefix of each length, as far as `known`. */
  let borders = new Uint32Array(2)
  let known = 1

  return {
    get length() {
      return length
    },
    get run() {
      return run
    },
    after: (start: number): Buffer => bytes.subarray(start, length),
    add(more: Uint8Array): void {
      const taken = more.subarray(0, limit - length)
      if (length + taken.length > bytes.length) {
        const larger = Buffer.alloc(
          Math.min(limit, Math.max(2 * bytes.length, length + taken.length)),
        )
        larger.set(bytes.subarray(0, length))
        bytes = larger
      }
      bytes.set(taken, length)
      const isRun = run === length
      length += taken.length
      if (!isRun || length === 0) return
      const rest = Math.max(1, run)
      run = rest + commonLength(bytes.subarray(rest, length), bytes.subarray(rest - 1, length))
    },
    /** Length of the longest border of the first `prefix` bytes. */
    border(prefix: number): number {
      if (prefix >= borders.length) {
        const larger = new Uint32Array(Math.min(limit, 2 * prefix) + 1)
        larger.set(borders)
        borders = larger
      }
      for (; known < prefix; known++) {
        const byte = bytes[known]
        let border = borders[known]!
        while (border > 0 && bytes[border] !== byte) border = borders[border]!
        borders[known + 1] = bytes[border] === byte ? border + 1 : 0
      }
      return borders[prefix]!
    },
  }
}

/** So many bytes are compared one by one before it is worth a call. */
const FEW = 32

/** How many bytes both begin with; in steps that grow while they are equal. */
function commonLength(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length)
  let done = 0
  for (let step = FEW; done < length; ) {
    const end = Math.min(done + step, length)
    if (step > FEW && one.compare(other, done, end, done, end) !== 0) {
      step = Math.max(FEW, step >> 2)
      continue
    }
    if (step === FEW) {
      for (; done < end; done++) if (one[done] !== other[done]) return done
    }
    done = end
    step *= 2
  }
  return length
}

/** Where the bytes begin that are all like the last one. */
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
