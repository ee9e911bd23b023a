/** The claims in the tables of a generated MP4 file, which contains only a few bytes of audio. */
export type Claims = {
  tracks: number
  /** Samples of each track in the table of constant size. */
  samples: number
  /** Entries that other tables claim to have without having them. */
  entries?: number
  brand?: string
  /** Whether fragments follow. */
  isFragmented?: boolean
}

/** Returns a box: size, name, content. */
function box(name: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, body])
}

/** Returns numbers as 32-bit big-endian words. */
const words = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, at * 4)
  return bytes
}

const RATE = 16_000
/** Ticks per second, so many that the claimed samples last for a second or two. */
const TIMESCALE = 100_000_000
/** Ticks of a sample; for a delta of 1 readers take chunks as a whole and build no table. */
const DELTA = 2
/** The identity matrix of `tkhd` and `mvhd`. */
const matrix = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

/** An audio sample entry of 16-bit samples (`sowt`), one channel. */
function sampleEntry(): Buffer {
  const entry = Buffer.alloc(28)
  entry.writeUInt16BE(1, 6)
  entry.writeUInt16BE(1, 16)
  entry.writeUInt16BE(16, 18)
  entry.writeUInt32BE((RATE << 16) >>> 0, 24)
  return box('sowt', entry)
}

function track(id: number, { samples, entries }: Claims): Buffer {
  const table = box(
    'stbl',
    box('stsd', words(0, 1), sampleEntry()),
    box('stts', words(0, entries ?? 1, samples, DELTA)),
    box('stsc', words(0, entries ?? 1, 1, samples, 1)),
    box('stsz', words(0, 2, samples)),
    box('stco', words(0, entries ?? 1, 64)),
    ...(entries
      ? [box('ctts', words(0, entries, samples, 1)), box('stss', words(0, entries, 1))]
      : []),
  )
  const handler = Buffer.concat([words(0, 0), Buffer.from('soun'), words(0, 0, 0), Buffer.alloc(1)])
  const dataReference = box('dinf', box('dref', words(0, 1), box('url ', words(1))))
  const media = box('minf', box('smhd', words(0, 0)), dataReference, table)
  const header = words(0, 0, 0, TIMESCALE, samples * DELTA)
  const mdia = box('mdia', box('mdhd', header, words(0)), box('hdlr', handler), media)
  const tkhd = box('tkhd', words(7, 0, 0, id, 0, samples, 0, 0, 0, 0x01000000), matrix, words(0, 0))
  return box('trak', tkhd, mdia)
}

/** Returns a small file whose tables claim more than it contains. */
export function claimingMp4(claims: Claims): Buffer {
  const mvhd = box(
    'mvhd',
    words(0, 0, 0, TIMESCALE, claims.samples * DELTA, 0x10000, 0x01000000, 0, 0),
    matrix,
    Buffer.alloc(24),
    words(99),
  )
  const tracks = Array.from({ length: claims.tracks }, (_, n) => track(n + 1, claims))
  const brand = Buffer.from(`${claims.brand ?? 'isom'}\0\0\0\0`, 'latin1')
  const audio = box('mdat', Buffer.alloc(1024, 1))
  const more = claims.isFragmented ? [box('mvex', box('trex', words(0, 1, 1, DELTA, 1, 0)))] : []
  return Buffer.concat([box('ftyp', brand), audio, box('moov', mvhd, ...tracks, ...more)])
}

/** Returns a file with boxes nested `depth` levels deep. */
export function deepMp4(depth: number): Buffer {
  const head = box('ftyp', Buffer.from('isom\0\0\0\0', 'latin1'))
  const bytes = Buffer.alloc(depth * 8)
  for (let at = 0; at < depth; at++) {
    bytes.writeUInt32BE((depth - at) * 8, at * 8)
    bytes.write(at % 2 ? 'trak' : 'moov', at * 8 + 4, 'latin1')
  }
  return Buffer.concat([head, bytes])
}

/** Returns a file with `count` fragments that each claim a million samples of one byte. */
export function fragmentedMp4(count: number): Buffer {
  // Flags: a data offset in the run; a default size in the header of the track.
  const run = box('trun', words(1, 1_000_000, 8))
  const header = box('tfhd', words(0x10, 1, 1))
  const one = box('moof', box('mfhd', words(0, 1)), box('traf', header, run))
  const claimingFile = claimingMp4({ tracks: 1, samples: 1, isFragmented: true })
  return Buffer.concat([claimingFile, ...Array.from({ length: count }, () => one)])
}
