import { decodeALaw, decodeMuLaw } from './containers/g711.ts'

/** The sample rate of decoded audio. */
export const SAMPLE_RATE = 16_000

/** How one sample is stored: unsigned, signed, float (all little endian), or G.711 companded. */
export type SampleEncoding = 'u8' | 's16' | 's24' | 's32' | 'f32' | 'f64' | 'alaw' | 'mulaw'

/** One array of samples in [-1, 1] per channel, all of one length. */
export type PlanarSamples = Float32Array<ArrayBuffer>[]

const sampleBytes = { u8: 1, s16: 2, s24: 3, s32: 4, f32: 4, f64: 8, alaw: 1, mulaw: 1 } as const

/** Returns the bytes of one sample of one channel. */
export function bytesPerSample(encoding: SampleEncoding): number {
  return sampleBytes[encoding]
}

/**
 * Splits interleaved bytes into one array per channel. Ignores an incomplete frame at the end: the
 * caller carries it over.
 */
export function decodePcm(
  bytes: Uint8Array,
  { encoding, channels }: { encoding: SampleEncoding; channels: number },
): PlanarSamples {
  const size = sampleBytes[encoding]
  const frames = Math.floor(bytes.length / (size * channels))
  const view = new DataView(bytes.buffer, bytes.byteOffset, frames * size * channels)
  return Array.from({ length: channels }, (_, channel) => {
    const samples = new Float32Array(frames)
    decodeChannel(samples, { view, encoding, offset: channel * size, step: channels * size })
    return samples
  })
}

type InterleavedSamples = { view: DataView; encoding: SampleEncoding; offset: number; step: number }

/**
 * Decodes one channel, with one loop per encoding: a test inside the loop would take longer than
 * the conversion.
 */
function decodeChannel(
  samples: Float32Array,
  { view, encoding, offset, step }: InterleavedSamples,
): void {
  const count = samples.length
  let at = offset
  switch (encoding) {
    case 'u8':
      for (let i = 0; i < count; i++, at += step) samples[i] = (view.getUint8(at) - 128) / 128
      break
    case 's16':
      for (let i = 0; i < count; i++, at += step) samples[i] = view.getInt16(at, true) / 32_768
      break
    case 's24':
      for (let i = 0; i < count; i++, at += step) {
        samples[i] = ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 8_388_608
      }
      break
    case 's32':
      for (let i = 0; i < count; i++, at += step) samples[i] = view.getInt32(at, true) / 2 ** 31
      break
    case 'f32':
      for (let i = 0; i < count; i++, at += step)
        samples[i] = zeroIfNotFinite(view.getFloat32(at, true))
      break
    case 'f64':
      for (let i = 0; i < count; i++, at += step)
        samples[i] = zeroIfNotFinite(view.getFloat64(at, true))
      break
    case 'alaw':
      for (let i = 0; i < count; i++, at += step) samples[i] = decodeALaw(view.getUint8(at))
      break
    case 'mulaw':
      for (let i = 0; i < count; i++, at += step) samples[i] = decodeMuLaw(view.getUint8(at))
  }
}

/**
 * Replaces NaN, infinity and huge values, which damaged files contain, by 0: one such value would
 * spread through every filter to the end.
 */
function zeroIfNotFinite(value: number): number {
  return Math.abs(value) <= 1e6 ? value : 0
}

/** Rounds samples to 16 bits and clips them at full scale; 16-bit input is unchanged. */
export function toInt16(samples: Float32Array): Int16Array<ArrayBuffer> {
  const rounded = new Int16Array(samples.length)
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i]! * 32_768 + 0.5
    rounded[i] = value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : Math.floor(value)
  }
  return rounded
}

/** Returns the samples of `head` followed by those of `tail`. */
export function joinSamples(head: Float32Array, tail: Float32Array): Float32Array<ArrayBuffer> {
  const joinedSamples = new Float32Array(head.length + tail.length)
  joinedSamples.set(head)
  joinedSamples.set(tail, head.length)
  return joinedSamples
}
