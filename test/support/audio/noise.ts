import { createRandom } from '../random/random.ts'

/** Generates unique samples: no stretch of them occurs twice. */
export function noise(seconds: number, seed: number): Int16Array<ArrayBuffer> {
  const random = createRandom(seed)
  return Int16Array.from({ length: seconds * 16_000 }, () => Math.round((random() - 0.5) * 16_000))
}

/** Builds a WAVE file of channels of equal length; 16 bits at 16 kHz. */
export function waveOf(channels: readonly Int16Array[]): Uint8Array<ArrayBuffer> {
  const count = channels.length
  const size = channels[0]!.byteLength * count
  const file = Buffer.alloc(44 + size)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + size, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(count, 22)
  file.writeUInt32LE(16_000, 24)
  file.writeUInt32LE(32_000 * count, 28)
  file.writeUInt16LE(count * 2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(size, 40)
  for (const [c, samples] of channels.entries()) {
    for (const [i, sample] of samples.entries()) file.writeInt16LE(sample, 44 + (i * count + c) * 2)
  }
  return new Uint8Array(file)
}

/** Returns the channels of such a file, which must have no other header. */
export function channelsOf(wave: Uint8Array): Int16Array[] {
  const file = Buffer.from(wave)
  const count = file.readUInt16LE(22)
  const frames = (file.length - 44) / 2 / count
  return Array.from({ length: count }, (_, c) =>
    Int16Array.from({ length: frames }, (_, i) => file.readInt16LE(44 + (i * count + c) * 2)),
  )
}
