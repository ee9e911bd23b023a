/** The format of synthesized audio; the defaults are those of sessions. */
export type SynthesizeOptions = { sampleRate?: number; bitDepth?: 8 | 16 | 24 | 32; seed?: number }

/** The duration of a character. */
const SECONDS = 0.1

/**
 * Synthesizes raw samples of one channel, a character per 0.1 s: `#` is a hum that a fake engine
 * takes for speech, anything else is silence. No two tenths of a hum are alike, so that tests can
 * detect repeats.
 */
export function synthesizeAudio(
  audio: string,
  options: SynthesizeOptions = {},
): Buffer<ArrayBuffer> {
  const { sampleRate = 16_000, bitDepth = 16, seed = 0 } = options
  const perCharacter = Math.round(sampleRate * SECONDS)
  const bytes = Buffer.alloc((audio.length * perCharacter * bitDepth) / 8)
  for (let i = 0; i < audio.length * perCharacter; i++) {
    const isHum = audio[Math.floor(i / perCharacter)] === '#'
    const time = i / sampleRate
    const pitch = 150 + 40 * Math.sin(time * 1.7 + seed)
    const value = isHum ? 0.3 * Math.sin(2 * Math.PI * pitch * time + seed) : 0
    writeSample(bytes, i, { value, bitDepth })
  }
  return bytes
}

function writeSample(
  bytes: Buffer,
  index: number,
  { value, bitDepth }: { value: number; bitDepth: number },
): void {
  const size = bitDepth / 8
  if (bitDepth === 8) bytes.writeUInt8(Math.round(value * 127) + 128, index)
  else bytes.writeIntLE(Math.round(value * (2 ** (bitDepth - 1) - 1)), index * size, size)
}

/** Interleaves channels of one length, sample by sample. */
export function interleave(channels: readonly Buffer[], bitDepth = 16): Buffer<ArrayBuffer> {
  const size = bitDepth / 8
  const frames = channels[0]!.length / size
  const bytes = Buffer.alloc(frames * size * channels.length)
  for (let frame = 0; frame < frames; frame++) {
    for (const [i, channel] of channels.entries()) {
      channel.copy(bytes, (frame * channels.length + i) * size, frame * size, (frame + 1) * size)
    }
  }
  return bytes
}

/** Cuts bytes into chunks of one size; the last may be shorter. */
export function chunksOf(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
}
