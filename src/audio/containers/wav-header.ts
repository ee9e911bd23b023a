import { type AudioFormat, frameBytes } from '../audio-format.ts'
import { bytesPerSample, type SampleEncoding } from '../pcm.ts'

/** Size of the header that `wavHeader` creates, in bytes. */
const WAV_HEADER_BYTES = 44

/**
 * The value of a 32-bit size field for a length that it cannot hold; readers continue to the end of
 * the file.
 */
const UNKNOWN_SIZE = 0xffff_ffff

/** Format tags of mmreg.h; the extensible form holds the tag in the first bytes of a GUID. */
export const WAV_TAGS = { pcm: 1, float: 3, alaw: 6, mulaw: 7, extensible: 0xfffe }
const otherTags: Partial<Record<SampleEncoding, number>> = {
  f32: WAV_TAGS.float,
  f64: WAV_TAGS.float,
  alaw: WAV_TAGS.alaw,
  mulaw: WAV_TAGS.mulaw,
}

/**
 * Returns the header of a recording with `bytes` bytes of audio; an odd length needs a pad byte
 * after it.
 */
export function wavHeader(format: AudioFormat, bytes: number): Uint8Array {
  const riffSize = WAV_HEADER_BYTES - 8 + bytes + (bytes % 2)
  const isLarge = riffSize > UNKNOWN_SIZE
  const header = Buffer.alloc(WAV_HEADER_BYTES)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(isLarge ? UNKNOWN_SIZE : riffSize, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(otherTags[format.encoding] ?? WAV_TAGS.pcm, 20)
  header.writeUInt16LE(format.channels, 22)
  header.writeUInt32LE(format.sampleRate, 24)
  header.writeUInt32LE(format.sampleRate * frameBytes(format), 28)
  header.writeUInt16LE(frameBytes(format), 32)
  header.writeUInt16LE(bytesPerSample(format.encoding) * 8, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(isLarge ? UNKNOWN_SIZE : bytes, 40)
  return header
}

/**
 * Returns how the body of a `fmt ` chunk contradicts the format of a session; undefined if it does
 * not. Its derived fields (bytes per frame and per second) are often wrong in handwritten headers:
 * bytes per frame count only if they indicate padded samples, such as 24 bits in four bytes.
 */
export function findContradiction(body: Uint8Array, format: AudioFormat): string | undefined {
  if (body.length < 16) return `its format chunk has ${body.length} bytes`
  const fields = new DataView(body.buffer, body.byteOffset, body.length)
  const formatTag = fields.getUint16(0, true)
  const tag =
    formatTag === WAV_TAGS.extensible && body.length >= 26 ? fields.getUint16(24, true) : formatTag
  const expected = otherTags[format.encoding] ?? WAV_TAGS.pcm
  if (tag !== expected) return `its format is ${tag}, the session's is ${expected}`
  const channels = fields.getUint16(2, true)
  if (channels !== format.channels) return `${channels} channels, not ${format.channels}`
  const rate = fields.getUint32(4, true)
  if (rate !== format.sampleRate) return `a sample rate of ${rate} Hz, not ${format.sampleRate}`
  const bits = sampleBits(fields, channels)
  const expectedBits = bytesPerSample(format.encoding) * 8
  if (bits !== expectedBits) return `${bits} bits per sample, not ${expectedBits}`
  return undefined
}

/** Returns the stored bits per sample; 20 bits take three bytes. */
function sampleBits(fields: DataView, channels: number): number {
  const bits = Math.ceil(fields.getUint16(14, true) / 8) * 8
  const padded = (fields.getUint16(12, true) / channels) * 8
  return Number.isInteger(padded / 8) && padded > bits ? padded : bits
}
