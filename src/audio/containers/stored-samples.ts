import type { MediaInfo } from '../decoder/decoder-messages.ts'
import { bytesPerSample, decodePcm, type PlanarSamples, type SampleEncoding } from '../pcm.ts'
import type { ByteSource } from './byte-source.ts'

/** The position of samples in a file and how they are stored. */
export type SampleLayout = {
  sampleRate: number
  channels: number
  encoding: SampleEncoding
  /** Whether the highest byte of each sample comes first, as in RIFX. */
  isBigEndian?: boolean
  /** The offset of the samples in bytes. */
  start: number
  /** The bytes of samples that the file contains. */
  length: number
  /** The bytes that the file declares; more than `length` if the file is truncated. */
  declaredLength: number
  /** The number of bytes after the samples that belong to no chunk; they are often another file. */
  unreadLength: number
}

/** The size of a read: about a second of CD audio. Memory use does not depend on the length. */
const BLOCK_BYTES = 256 * 1024

/**
 * Returns the layout of a telephony file without a header, which holds only samples: 8 kHz, one
 * channel (RFC 3551, PCMU and PCMA).
 */
export function headerlessLayout(source: ByteSource, encoding: SampleEncoding): SampleLayout {
  return {
    sampleRate: 8000,
    channels: 1,
    encoding,
    start: 0,
    length: source.size,
    declaredLength: source.size,
    unreadLength: 0,
  }
}

/** Returns the codec and the duration of uncompressed samples. */
export function describeSamples(layout: SampleLayout, extension: string): MediaInfo {
  const { sampleRate, channels, encoding, length } = layout
  const name = codecNames[encoding]
  const codec = layout.isBigEndian ? name.replace(/le$/, 'be') : name
  return { extension, duration: secondsOfSamples(layout, length), channels, sampleRate, codec }
}

/** Returns the duration in seconds of this many bytes of samples. */
export function secondsOfSamples(layout: SampleLayout, bytes: number): number {
  const { sampleRate, channels, encoding } = layout
  return Math.floor(bytes / (channels * bytesPerSample(encoding))) / sampleRate
}

/** libav's names of the codecs, so that a codec has the same name with either reader. */
const codecNames: Record<SampleEncoding, string> = {
  u8: 'pcm_u8',
  s16: 'pcm_s16le',
  s24: 'pcm_s24le',
  s32: 'pcm_s32le',
  f32: 'pcm_f32le',
  f64: 'pcm_f64le',
  alaw: 'pcm_alaw',
  mulaw: 'pcm_mulaw',
}

/** Reads the samples in blocks, at their own rate. */
export function* readStoredSamples(
  source: ByteSource,
  layout: SampleLayout,
): Generator<PlanarSamples> {
  const frameBytes = layout.channels * bytesPerSample(layout.encoding)
  const blockBytes = Math.floor(BLOCK_BYTES / frameBytes) * frameBytes
  const end = layout.start + layout.length
  for (let at = layout.start; at < end; at += blockBytes) {
    const bytes = source.read(at, Math.min(blockBytes, end - at))
    yield decodePcm(layout.isBigEndian ? swapBytes(bytes, layout.encoding) : bytes, layout)
  }
}

/** Reverses the byte order of each complete sample. */
function swapBytes(bytes: Uint8Array, encoding: SampleEncoding): Uint8Array {
  const size = bytesPerSample(encoding)
  const swapped = new Uint8Array(Math.floor(bytes.length / size) * size)
  for (let at = 0; at < swapped.length; at += size) {
    for (let i = 0; i < size; i++) swapped[at + i] = bytes[at + size - 1 - i]!
  }
  return swapped
}
