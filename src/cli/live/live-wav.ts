import { readWavLayout } from '../../audio/containers/wav-layout.ts'
import type { SampleEncoding } from '../../audio/pcm.ts'
import type { LiveFormat } from './live-api-types.ts'

/** The maximum header length, which is the server's. */
const MAX_HEADER_BYTES = 64 * 1024

const RATES = [8000, 16_000, 32_000, 44_100, 48_000]

const encodings: Partial<Record<SampleEncoding, Pick<LiveFormat, 'encoding' | 'bit_depth'>>> = {
  u8: { encoding: 'wav/pcm', bit_depth: 8 },
  s16: { encoding: 'wav/pcm', bit_depth: 16 },
  s24: { encoding: 'wav/pcm', bit_depth: 24 },
  s32: { encoding: 'wav/pcm', bit_depth: 32 },
  alaw: { encoding: 'wav/alaw', bit_depth: 8 },
  mulaw: { encoding: 'wav/ulaw', bit_depth: 8 },
}

/**
 * Returns whether a stream is a WAV file, by its first bytes; undefined while there are too few of
 * them.
 */
export function isWav(head: Buffer): boolean | undefined {
  if (head.length < 12) return 'RIFF'.startsWith(head.toString('latin1', 0, 4)) ? undefined : false
  return head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WAVE'
}

/** The position of the samples in a WAV stream, and their format. */
export type WavStream = { format: LiveFormat; start: number; length: number }

/**
 * Reads the header of a WAV stream; undefined while it is incomplete. Throws for samples of a kind
 * that sessions do not accept.
 */
export function readWavStream(head: Buffer): WavStream | undefined {
  if (!reachesSamples(head)) {
    if (head.length <= MAX_HEADER_BYTES) return undefined
    throw new Error('Cannot read the WAV header on standard input: no samples follow it')
  }
  const layout = readWavLayout({
    // A stream has no known end. Only the header may give its length.
    size: Number.MAX_SAFE_INTEGER,
    read: (offset, length) => head.subarray(offset, offset + length),
  })
  const samples = layout && encodings[layout.encoding]
  if (!samples || !RATES.includes(layout.sampleRate)) {
    const formatText = layout ? `${layout.encoding} at ${layout.sampleRate} Hz` : 'compressed audio'
    throw new Error(
      `Cannot stream this WAV (${formatText}): give it as a file, which is converted, ` +
        `or as PCM of 8 to 32 bits, A-law or mu-law at ${RATES.join(', ')} Hz`,
    )
  }
  const { sampleRate: sample_rate, channels, start, length } = layout
  return { format: { ...samples, sample_rate, channels }, start, length }
}

/** Returns whether the header of the `data` chunk has arrived, after any other chunks. */
function reachesSamples(head: Buffer): boolean {
  for (let at = 12; at + 8 <= head.length; ) {
    if (head.toString('latin1', at, at + 4) === 'data') return true
    const size = head.readUInt32LE(at + 4)
    at += 8 + size + (size % 2)
  }
  return false
}
