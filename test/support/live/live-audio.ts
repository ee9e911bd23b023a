import type { AudioFormat } from '../../../src/audio/audio-format.ts'
import { wavHeader } from '../../../src/audio/containers/wav-header.ts'
import { bytesPerSample, type SampleEncoding } from '../../../src/audio/pcm.ts'

/** Audio for a live session, and the parameters of a session that accepts it. */
export type LiveTestAudio = {
  params: { encoding: string; bit_depth: number; sample_rate: number; channels: number }
  format: AudioFormat
  audio: Buffer
  /** Whether clients send a WAV header before it. */
  hasHeader: boolean
}

type Random = () => number

const formats: [SampleEncoding, string, number][] = [
  ['u8', 'wav/pcm', 8],
  ['s16', 'wav/pcm', 16],
  ['s24', 'wav/pcm', 24],
  ['s32', 'wav/pcm', 32],
  ['alaw', 'wav/alaw', 16],
  ['mulaw', 'wav/ulaw', 16],
]
const rates = [8000, 16_000, 16_000, 16_000, 32_000, 44_100, 48_000]

/**
 * Generates bursts of noise between pauses, on one to three channels, in any format. The pauses
 * hold faint noise, far below the level of speech: no two stretches are alike, so that audio stored
 * twice or not at all shows, and none is digital silence, which a server could not distinguish from
 * any other.
 */
export function makeLiveAudio(random: Random, { seconds }: { seconds: number }): LiveTestAudio {
  const [encoding, name, depth] = formats[Math.floor(random() * formats.length)]!
  const rate = rates[Math.floor(random() * rates.length)]!
  const channels = 1 + Math.floor(random() * 3)
  const format = { encoding, sampleRate: rate, channels }
  const size = bytesPerSample(encoding)
  const frames = Math.round(seconds * rate)
  const audio = Buffer.alloc(frames * size * channels)
  for (let channel = 0; channel < channels; channel++) {
    let isLoud = random() < 0.3
    let left = 0
    for (let frame = 0; frame < frames; frame++) {
      if (left-- <= 0) {
        isLoud = !isLoud
        left = Math.round(rate * (isLoud ? burst(random) : 0.05 + random()))
      }
      writeSample(audio, (frame * channels + channel) * size, { encoding, isLoud, random })
    }
  }
  // A recording may end within a frame.
  const torn = random() < 0.2 ? Math.floor(random() * size * channels) : 0
  return {
    params: { encoding: name, bit_depth: depth, sample_rate: rate, channels },
    format,
    audio: audio.subarray(0, audio.length - torn),
    hasHeader: random() < 0.4,
  }
}

/** Returns seconds; some bursts are longer than an utterance may be. */
function burst(random: Random): number {
  return random() < 0.1 ? 5 + 3 * random() : 0.1 + 1.4 * random()
}

function writeSample(
  to: Buffer,
  at: number,
  { encoding, isLoud, random }: { encoding: SampleEncoding; isLoud: boolean; random: Random },
): void {
  const noise = 2 * random() - 1
  const level = isLoud ? 0.3 : 0.002
  switch (encoding) {
    case 'u8':
      to.writeUInt8(128 + Math.round(noise * (isLoud ? 40 : 1)), at)
      break
    case 's24':
      to.writeIntLE(Math.floor(noise * level * 2 ** 23), at, 3)
      break
    case 's32':
      to.writeInt32LE(Math.floor(noise * level * 2 ** 31), at)
      break
    case 's16':
      to.writeInt16LE(Math.floor(noise * level * 2 ** 15), at)
      break
    default: {
      // The sign, and a logarithm of the magnitude: inverted as a whole, or every other bit.
      const magnitude = (isLoud ? 64 : 0) + Math.floor(Math.abs(noise) * (isLoud ? 40 : 12))
      to.writeUInt8((magnitude | (noise < 0 ? 128 : 0)) ^ (encoding === 'alaw' ? 0x55 : 0xff), at)
    }
  }
}

/** Returns the bytes that a client sends: the audio, after a header if it sends one. */
export function streamOf({ format, audio, hasHeader }: LiveTestAudio): Buffer {
  return hasHeader ? Buffer.concat([wavHeader(format, audio.length), audio]) : audio
}

/** Returns the expected recording of the session. */
export function recordingOf({ format, audio }: LiveTestAudio): Buffer {
  const pad = Buffer.alloc(audio.length % 2)
  return Buffer.concat([wavHeader(format, audio.length), audio, pad])
}
