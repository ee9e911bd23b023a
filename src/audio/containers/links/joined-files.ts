import type { ByteSource } from '../byte-source.ts'
import { type FilePart, MAX_PARTS, partsFrom } from './file-part.ts'

/** Maximum chunks or blocks of a part: one with more is crafted to block the reader. */
const MAX_CHUNKS = 100_000
/** The bytes after a WavPack file in which the next one is searched: its tags have a picture. */
const MAX_TAG_BYTES = 1024 * 1024
/** The size that a writer to a pipe leaves in the header of an AU file. */
const UNKNOWN_SIZE = 0xffff_ffff

/** Returns the end of the file that begins at an offset, as its headers declare it. */
type DeclaredEnd = (source: ByteSource, start: number) => number

/** The formats of which libav reads only the first of several files. */
const declaredEnds = {
  // The size of a chunk; after an odd one there is a pad byte.
  aiff: (source, start) => start + 8 + even(numbers(source, start + 4, 4).getUint32(0)),
  au: (source, start) => {
    const header = numbers(source, start + 4, 8)
    const size = header.getUint32(4)
    return size === UNKNOWN_SIZE ? source.size : start + header.getUint32(0) + size
  },
  caf: endOfCaf,
  // 64 bits in all, with the header; files are multiples of eight bytes.
  w64: (source, start) => {
    return start + 8 * Math.ceil(Number(numbers(source, start + 16, 8).getBigUint64(0, true)) / 8)
  },
  wv: endOfWavpack,
} satisfies Record<string, DeclaredEnd>

/**
 * Returns the files that were joined byte by byte to one of a format. Returns no parts for a file
 * that is a single one.
 */
export function findJoinedFiles(source: ByteSource, format: keyof typeof declaredEnds): FilePart[] {
  const magic = nameAt(source, 0)
  const starts = [0]
  while (starts.length < MAX_PARTS) {
    const start = starts.at(-1)!
    const end = declaredEnds[format](source, start)
    if (end <= start || nameAt(source, end) !== magic) break
    starts.push(end)
  }
  return partsFrom(starts, source.size)
}

/** The chunks of a CAF file have a name and 64 bits of size; a negative one is unknown. */
function endOfCaf(source: ByteSource, start: number): number {
  let at = start + 8
  for (let chunks = 0; chunks < MAX_CHUNKS && at < source.size; chunks++) {
    if (nameAt(source, at) === 'caff') return at
    const size = Number(numbers(source, at + 4, 8).getBigInt64(0))
    if (size < 0) break
    at += 12 + size
  }
  return source.size
}

/**
 * A WavPack file consists of blocks, of which the first with samples has the index 0. Tags may
 * follow.
 */
function endOfWavpack(source: ByteSource, start: number): number {
  let at = start
  for (let blocks = 0; blocks < MAX_CHUNKS && nameAt(source, at) === 'wvpk'; blocks++) {
    const header = numbers(source, at, 28)
    const isFirst = header.getUint32(16, true) === 0 && header.getUint8(10) === 0
    // Blocks without samples hold tags; those of further channels follow the initial one.
    const hasSamples = header.getUint32(20, true) > 0
    const isInitial = (header.getUint32(24, true) & 0x800) > 0
    if (at > start && isFirst && hasSamples && isInitial) return at
    at += 8 + header.getUint32(4, true)
  }
  const tags = Buffer.from(source.read(at, MAX_TAG_BYTES)).indexOf('wvpk')
  return tags < 0 ? source.size : at + tags
}

function nameAt(source: ByteSource, at: number): string {
  return Buffer.from(source.read(at, 4)).toString('latin1')
}

/** Returns the numbers at an offset; those beyond the end are 0. */
function numbers(source: ByteSource, at: number, length: number): DataView {
  const bytes = new Uint8Array(length)
  bytes.set(source.read(at, length))
  return new DataView(bytes.buffer)
}

function even(size: number): number {
  return size + (size % 2)
}
