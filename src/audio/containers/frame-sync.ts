/**
 * An elementary stream: it has no magic number, but is recognized by frame headers that follow one
 * another at the distance that each states. Random bytes do not match for three frames.
 */
export type ElementaryStream = 'mp3' | 'mp2' | 'aac' | 'ac3' | 'eac3' | 'latm'

type StreamFrame = { stream: ElementaryStream; length: number }

const FRAMES_IN_A_ROW = 3

/**
 * Returns the stream whose frames follow one another from `at` to the end of `bytes`, or for three
 * frames.
 */
export function syncedStream(bytes: Uint8Array, at: number): ElementaryStream | undefined {
  const first = readFrame(bytes, at)
  if (!first) return undefined
  let next = at + first.length
  for (let frameCount = 1; frameCount < FRAMES_IN_A_ROW && next < bytes.length - 8; frameCount++) {
    const frame = readFrame(bytes, next)
    if (frame?.stream !== first.stream) return undefined
    next += frame.length
  }
  return first.stream
}

/**
 * Returns the stream at the first position that three complete frames follow: recordings cut from a
 * broadcast start anywhere.
 */
export function findStream(bytes: Uint8Array): ElementaryStream | undefined {
  for (let at = 0; at < bytes.length; at++) {
    const first = readFrame(bytes, at)
    if (!first || at + FRAMES_IN_A_ROW * first.length > bytes.length) continue
    const stream = syncedStream(bytes, at)
    if (stream) return stream
  }
  return undefined
}

function readFrame(bytes: Uint8Array, at: number): StreamFrame | undefined {
  if (at + 8 > bytes.length) return undefined
  const [first, second] = [bytes[at]!, bytes[at + 1]!]
  if (first === 0x0b && second === 0x77) return readDolbyFrame(bytes.subarray(at, at + 8))
  // AAC of broadcasts: eleven bits of synchronization, then the length (ISO 14496-3, 1.7.2).
  if (first === 0x56 && second >= 0xe0)
    return { stream: 'latm', length: 3 + ((second & 31) << 8) + bytes[at + 2]! }
  if (first !== 0xff || second < 0xe0) return undefined
  const header = bytes.subarray(at, at + 8)
  if (!isAdts(header)) return readMpegFrame(header)
  const frame = readAdtsFrame(header)
  return frame && { stream: 'aac', length: frame.length }
}

/** Kilobits per second by layer; version 1, then versions 2 and 2.5 (ISO 11172-3, 13818-3). */
const mpegBitRates: Record<string, number[]> = {
  '1:1': [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1:2': [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1:3': [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2:1': [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2:2': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  '2:3': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}

function readMpegFrame(header: Uint8Array): StreamFrame | undefined {
  const [, second = 0, third = 0] = header
  const version = [2.5, undefined, 2, 1][(second >> 3) & 3]
  const layer = 4 - ((second >> 1) & 3)
  const baseRate = [44_100, 48_000, 32_000][(third >> 2) & 3]
  const bitRate = mpegBitRates[`${version === 1 ? 1 : 2}:${layer}`]?.[(third >> 4) - 1]
  if (!version || !baseRate || !bitRate) return undefined
  const slotsPerFrame = layer === 1 ? 12 : layer === 3 && version !== 1 ? 72 : 144
  const rate = baseRate / (version === 1 ? 1 : version === 2 ? 2 : 4)
  const slots = (slotsPerFrame * bitRate * 1000) / rate
  const length = (Math.floor(slots) + ((third >> 1) & 1)) * (layer === 1 ? 4 : 1)
  return { stream: layer === 3 ? 'mp3' : 'mp2', length }
}

function isAdts(header: Uint8Array): boolean {
  return header[0] === 0xff && (header[1]! & 0xf6) === 0xf0
}

/**
 * Returns the length of the AAC frame with a header of at least six bytes, and the index of its
 * rate (ISO 14496-3, 1.A.2.2); undefined if it is no such header.
 */
export function readAdtsFrame(header: Uint8Array): { length: number; rate: number } | undefined {
  if (!isAdts(header)) return undefined
  const rate = (header[2]! >> 2) & 15
  const length = ((header[3]! & 3) << 11) | (header[4]! << 3) | (header[5]! >> 5)
  return rate < 13 && length > 7 ? { length, rate } : undefined
}

const ac3BitRates = [
  32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
]

/** Reads a frame of AC-3 (bit stream id up to 10) or E-AC-3 (11 to 16; ETSI TS 102 366). */
function readDolbyFrame(header: Uint8Array): StreamFrame | undefined {
  const id = header[5]! >> 3
  if (id > 16) return undefined
  if (id > 10) {
    return { stream: 'eac3', length: ((((header[2]! & 7) << 8) | header[3]!) + 1) * 2 }
  }
  const bitRate = ac3BitRates[(header[4]! & 63) >> 1]
  const rateCode = header[4]! >> 6
  if (!bitRate || rateCode === 3) return undefined
  if (rateCode === 1) {
    return { stream: 'ac3', length: 2 * (Math.floor((320 * bitRate) / 147) + (header[4]! & 1)) }
  }
  return { stream: 'ac3', length: bitRate * (rateCode === 0 ? 4 : 6) }
}
