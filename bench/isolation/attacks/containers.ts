/** Returns an FLV file of `bytes` bytes whose tags contain one sample each. */
export function tinyFlv(bytes: number): Buffer {
  const head = Buffer.from([...Buffer.from('FLV'), 1, 4, 0, 0, 0, 9, 0, 0, 0, 0])
  const tag = Buffer.alloc(18)
  tag.set([8, 0, 0, 3], 0)
  // Samples of 16 bits, 44.1 kHz, one channel.
  tag[11] = 0x3e
  tag.writeUInt32BE(14, 14)
  return Buffer.concat([head, Buffer.alloc(bytes, tag)])
}

/**
 * Returns an EBML element with a size field of eight bytes; of unknown size when `content` is
 * missing.
 */
function element(id: number[], content?: Uint8Array): Buffer {
  const size = Buffer.alloc(8, 0xff)
  if (content) size.writeBigUInt64BE((1n << 56n) | BigInt(content.length))
  else size[0] = 1
  return Buffer.concat([Buffer.from(id), size, content ?? Buffer.alloc(0)])
}

const EBML = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], Buffer.from('matroska')))
const SEGMENT = [0x18, 0x53, 0x80, 0x67]
const TRACKS = [0x16, 0x54, 0xae, 0x6b]
const CLUSTER = [0x1f, 0x43, 0xb6, 0x75]

function mkvTrack(number: number): Buffer {
  const audio = element([0xe1], Buffer.concat([element([0x9f], Buffer.from([1]))]))
  return element(
    [0xae],
    Buffer.concat([
      element([0xd7], Buffer.from([number])),
      element([0x73, 0xc5], Buffer.from([number])),
      element([0x83], Buffer.from([2])),
      element([0x86], Buffer.from('A_PCM/INT/LIT')),
      audio,
    ]),
  )
}

/**
 * Returns a Matroska file with `tracks` tracks and `bytes` bytes of blocks that contain two bytes
 * each.
 */
export function tinyMkv({ bytes, tracks }: { bytes: number; tracks: number }): Buffer {
  const all = Array.from({ length: tracks }, (_, n) => mkvTrack((n % 126) + 1))
  // SimpleBlock of track 1: six bytes, the last two of them samples.
  const block = Buffer.from([0xa3, 0x86, 0x81, 0, 0, 0x80, 1, 0])
  return Buffer.concat([
    EBML,
    element(SEGMENT),
    element(TRACKS, Buffer.concat(all)),
    element(CLUSTER),
    element([0xe7], Buffer.from([0])),
    Buffer.alloc(bytes, block),
  ])
}

/** Returns `bytes` bytes of Ogg pages that each begin a stream with its own serial number. */
export function manyOggStreams(bytes: number): Buffer {
  const page = Buffer.alloc(47)
  page.write('OggS')
  page[5] = 2
  page[26] = 1
  page[27] = 19
  page.write('OpusHead\x01\x01', 28, 'latin1')
  page.writeUInt32LE(48_000, 40)
  const pages: Buffer[] = []
  for (let n = 0; n * page.length < bytes; n++) {
    page.writeUInt32LE(n, 14)
    page.writeUInt32LE(0, 22)
    page.writeUInt32LE(oggChecksum(page), 22)
    pages.push(Buffer.from(page))
  }
  return Buffer.concat(pages)
}

/** CRC-32 with the polynomial 0x04c11db7, from 0, bits as they come. */
function oggChecksum(page: Uint8Array): number {
  let sum = 0
  for (const byte of page) {
    sum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  }
  return sum >>> 0
}

/** Returns a WAVE file with `bytes` bytes of empty chunks and no format. */
export function chunkedWav(bytes: number): Buffer {
  const empty = Buffer.from('junk\0\0\0\0', 'latin1')
  return Buffer.concat([
    Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1'),
    Buffer.alloc(bytes, empty),
  ])
}

/** Returns a WAVE file with the given format and an impossible length. */
export function oddWav({
  channels,
  rate,
  bits,
}: {
  channels: number
  rate: number
  bits: number
}): Buffer {
  const file = Buffer.alloc(20_044, 1)
  file.write('RIFF\xff\xff\xff\xffWAVEfmt ', 0, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(channels, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(0xffffffff, 28)
  file.writeUInt16LE(0, 32)
  file.writeUInt16LE(bits, 34)
  file.write('data\xff\xff\xff\xff', 36, 'latin1')
  return file
}

/** Returns a FLAC file with `bytes` bytes of empty metadata blocks. */
export function paddedFlac(bytes: number): Buffer {
  const info = Buffer.alloc(38)
  info.set([0, 0, 0, 34, 16, 0, 16, 0], 0)
  info.set([0x03, 0xe8, 0x00, 0xf0], 14)
  return Buffer.concat([Buffer.from('fLaC'), info, Buffer.alloc(bytes, Buffer.from([4, 0, 0, 0]))])
}

/** Returns `bytes` bytes of consecutive ID3 tags, then empty MP3 frames. */
export function taggedMp3(bytes: number): Buffer {
  const tag = Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1')
  const mpeg = Buffer.alloc(24)
  // MPEG 2.5, layer III, 8 kbit/s, 8 kHz, one channel: 72 bytes a frame, cut to what fits.
  mpeg.set([0xff, 0xe3, 0x18, 0xc4], 0)
  return Buffer.concat([Buffer.alloc(bytes / 2, tag), Buffer.alloc(bytes / 2, mpeg)])
}

/** Returns an AVI file that claims `streams` streams. */
export function claimingAvi(streams: number): Buffer {
  const list = (name: string, ...content: Buffer[]) => chunk('LIST', Buffer.from(name), ...content)
  const header = Buffer.alloc(56)
  header.writeUInt32LE(streams, 24)
  const strh = Buffer.alloc(56)
  strh.write('auds')
  strh.writeUInt32LE(1, 20)
  strh.writeUInt32LE(16_000, 24)
  strh.writeUInt32LE(0xffffffff, 32)
  const strf = Buffer.from([1, 0, 1, 0, 128, 62, 0, 0, 0, 125, 0, 0, 2, 0, 16, 0])
  const stream = list('strl', chunk('strh', strh), chunk('strf', strf))
  const all = Array.from({ length: streams }, () => stream)
  const movi = list('movi', Buffer.alloc(4_000_000, Buffer.from('00wb\0\0\0\0', 'latin1')))
  return chunk('RIFF', Buffer.from('AVI '), list('hdrl', chunk('avih', header), ...all), movi)
}

function chunk(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const head = Buffer.from(`${name}\0\0\0\0`, 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}
