/** Samples per second of the recordings below. */
const RATE = 8000

/** Builds a WAVE file that hums in each channel at a pitch of its own; 16 bits at 8 kHz. */
export function createToneWav(seconds: number, channels = 1): Uint8Array<ArrayBuffer> {
  const frames = Math.round(seconds * RATE)
  const size = frames * channels * 2
  const file = Buffer.alloc(44 + size)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + size, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(channels, 22)
  file.writeUInt32LE(RATE, 24)
  file.writeUInt32LE(RATE * channels * 2, 28)
  file.writeUInt16LE(channels * 2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(size, 40)
  for (let i = 0; i < frames * channels; i++) {
    const pitch = 220 * (1 + (i % channels))
    const phase = (2 * Math.PI * pitch * Math.floor(i / channels)) / RATE
    file.writeInt16LE(Math.round(8000 * Math.sin(phase)), 44 + i * 2)
  }
  return new Uint8Array(file)
}
