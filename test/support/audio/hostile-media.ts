import { deflateSync } from 'node:zlib'

/** Small files that cost a decoder much. */

function bytes(...parts: (Uint8Array | string)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')))
}

function repeated(part: Buffer, times: number): Buffer {
  return Buffer.alloc(part.length * times, part)
}

/** Encodes numbers in 32 bits, big-endian. */
function words(...numbers: number[]): Buffer {
  const buffer = Buffer.alloc(4 * numbers.length)
  for (const [i, number] of numbers.entries()) buffer.writeUInt32BE(number >>> 0, 4 * i)
  return buffer
}

function box(type: string, ...content: (Uint8Array | string)[]): Buffer {
  const inner = bytes(...content)
  return bytes(words(inner.length + 8), type, inner)
}

/** The declarations in the tables of a track; a given table replaces the usual one. */
export type TrackTables = { samples?: number; delta?: number; tables?: Record<string, Buffer> }

function track({ samples = 0, delta = 160, tables = {} }: TrackTables): Buffer {
  const matrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000]
  const entry = box('mp4a', words(0, 1, 0, 0, 0x10010, 0, 16_000 * 65_536))
  const all: Record<string, Buffer> = {
    stsd: words(0, 1),
    stts: words(0, 1, samples, delta),
    stsc: words(0, 1, 1, samples, 1),
    stsz: words(0, 1, samples),
    stco: words(0, 1, 40),
    ...tables,
  }
  const table = Object.entries(all)
    .filter(([type]) => type !== 'elst')
    .map(([type, content]) => (type === 'stsd' ? box(type, content, entry) : box(type, content)))
  const media = box(
    'mdia',
    box('mdhd', words(0, 0, 0, 16_000, samples, 0)),
    box('hdlr', words(0, 0), 'soun', words(0, 0, 0), '\0'),
    box('minf', box('smhd', words(0, 0)), box('stbl', ...table)),
  )
  const edits = tables.elst ? [box('edts', box('elst', tables.elst))] : []
  const header = box('tkhd', words(7, 0, 0, 1, 0, samples, 0, 0, 0, 0, ...matrix, 0, 0))
  return box('trak', header, ...edits, media)
}

/** Builds an MP4 file of a kilobyte of audio and an index of tracks. */
export function mp4(tracks: readonly TrackTables[], { packed = false } = {}): Buffer {
  const index = box('moov', box('mvhd', words(0, 0, 0, 1000, 1000)), ...tracks.map(track))
  const written = packed
    ? box(
        'moov',
        box('cmov', box('dcom', 'zlib'), box('cmvd', words(index.length), deflateSync(index))),
      )
    : index
  return bytes(
    box('ftyp', 'M4A ', words(0), 'M4A isom'),
    box('mdat', Buffer.alloc(1200, 1)),
    written,
  )
}

/** Builds the same with fragments whose runs declare `samples` of no bytes each. */
export function fragmentedMp4(samples: number): Buffer {
  const run = box('trun', words(0, samples))
  const extends_ = box('mvex', box('trex', words(0, 1, 1, 160, 1, 0)))
  const index = box('moov', box('mvhd', words(0, 0, 0, 1000, 0)), track({}), extends_)
  const fragment = box('moof', box('traf', box('tfhd', words(0, 1)), run))
  return bytes(box('ftyp', 'M4A ', words(0), 'M4A isom'), index, fragment, box('mdat', 'x'))
}

/** Builds the index of `mp4`, nested in many boxes. */
export function nestedMp4(depth: number): Buffer {
  let inner = box('moov', track({ samples: 1e6 }))
  for (let i = 0; i < depth; i++) inner = box('udta', inner)
  return bytes(box('ftyp', 'M4A ', words(0), 'M4A isom'), inner)
}

/**
 * Builds an FLV file of `tags` audio tags of three bytes, all at one moment: it has no duration at
 * all.
 */
export function flv(tags: number): Buffer {
  const tag = Buffer.alloc(18)
  tag.writeUInt8(8, 0)
  tag.writeUIntBE(3, 1, 3)
  tag.writeUInt8(0x2e, 11) // MP3, 44.1 kHz, 16 bits
  tag.writeUInt32BE(14, 14)
  return bytes('FLV\x01\x04', words(9, 0), repeated(tag, tags))
}

/** Builds an AMR file of frames of one byte, each of which lasts 20 ms. */
export function amr(frames: number): Buffer {
  return bytes('#!AMR\n', Buffer.alloc(frames, 0x7c))
}

/** Builds AAC frames of 8 bytes without content. */
export function adts(frames: number): Buffer {
  const frame = Buffer.from([0xff, 0xf1, 0x60, 0x40, 0x01, 0x1f, 0xfc, 0x00])
  return repeated(frame, frames)
}

/** Builds an ID3 tag with a frame that claims to inflate to 256 MB. */
export function id3(): Buffer {
  const inflated = deflateSync(Buffer.alloc(30_000_000))
  const size = (n: number) => Buffer.from([n >> 21, n >> 14, n >> 7, n].map((part) => part & 127))
  const frame = bytes('TXXX', size(inflated.length + 4), '\x00\x09', size(0x0fff_ffff), inflated)
  return bytes('ID3\x04\x00\x00', size(frame.length), frame, adts(100))
}

/** Builds an Ogg stream whose comment packet goes on for `pages` pages of 65 kB, and never ends. */
export function ogg(pages: number): Buffer {
  const page = (index: number, flags: number, content: Buffer, lacing: Buffer) => {
    const header = bytes('OggS\0', Buffer.from([flags]), Buffer.alloc(8), 'abcd', Buffer.alloc(8))
    header.writeUInt32LE(index, 18)
    return bytes(header, Buffer.from([lacing.length]), lacing, content)
  }
  const head = bytes('OpusHead\x01\x01', Buffer.alloc(2), '\x80\xbb\0\0', Buffer.alloc(3))
  const long = page(1, 0, Buffer.alloc(255 * 255, 'OpusTags'), Buffer.alloc(255, 255))
  const more = page(2, 1, Buffer.alloc(255 * 255), Buffer.alloc(255, 255))
  const first = page(0, 2, head, Buffer.from([head.length]))
  return bytes(first, long, repeated(more, pages))
}

/** Builds an EBML element with its size in eight bytes. */
function element(id: number[], ...content: (Uint8Array | string)[]): Buffer {
  const inner = bytes(...content)
  const size = Buffer.alloc(8)
  size.writeBigUInt64BE(0x0100_0000_0000_0000n | BigInt(inner.length))
  return bytes(Buffer.from(id), size, inner)
}

/** Builds a Matroska file of this many tracks, with a block that inflates to 30 MB. */
export function matroska({ tracks, blocks }: { tracks: number; blocks: number }): Buffer {
  const number = (id: number[], value: number) => element(id, words(value))
  const zlib = element(
    [0x6d, 0x80],
    element([0x62, 0x40], element([0x50, 0x34], number([0x42, 0x54], 0))),
  )
  const audio = element([0xe1], number([0x9f], 1))
  const entries = Array.from({ length: tracks }, (_, i) =>
    element(
      [0xae],
      number([0xd7], i + 1),
      number([0x83], 2),
      element([0x86], 'A_MPEG/L3'),
      audio,
      zlib,
    ),
  )
  const packed = deflateSync(Buffer.alloc(9_000_000))
  const block = element([0xa3], '\x81\0\0\x80', packed)
  const cluster = element([0x1f, 0x43, 0xb6, 0x75], number([0xe7], 0), repeated(block, blocks))
  const head = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], 'matroska'))
  return bytes(
    head,
    element([0x18, 0x53, 0x80, 0x67], element([0x16, 0x54, 0xae, 0x6b], ...entries), cluster),
  )
}

/**
 * Builds a Matroska file of uncompressed audio, one sample of 8 bits in each of its blocks, and no
 * length.
 */
export function crumbs(blocks: number): Buffer {
  const number = (id: number[], value: number) => element(id, words(value))
  const rate = element([0xb5], words(0x467a0000)) // 16000 as a float
  const audio = element([0xe1], number([0x9f], 1), rate, number([0x62, 0x64], 8))
  const codec = element([0x86], 'A_PCM/INT/LIT')
  const entry = element([0xae], number([0xd7], 1), number([0x83], 2), codec, audio)
  const block = element([0xa3], '\x81\0\0\x80', 'x')
  const cluster = element([0x1f, 0x43, 0xb6, 0x75], number([0xe7], 0), repeated(block, blocks))
  const tracks = element([0x16, 0x54, 0xae, 0x6b], entry)
  const head = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], 'matroska'))
  return bytes(head, element([0x18, 0x53, 0x80, 0x67], tracks, cluster))
}
