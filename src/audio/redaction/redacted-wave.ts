import { type FileHandle, open } from 'node:fs/promises'
import { AppError } from '../../errors.ts'
import { wavHeader } from '../containers/wav-header.ts'
import { SAMPLE_RATE } from '../pcm.ts'
import { beepOver, type SampleSpan } from './beep.ts'

/** A channel as a file of 16-bit samples at 16 kHz, and the spans to redact. */
export type RedactedChannel = { path: string; spans: readonly SampleSpan[] }

/**
 * The size of a block: one second. With the maximum of channels, it takes a millisecond and half a
 * megabyte of memory.
 */
const BLOCK_SAMPLES = SAMPLE_RATE

/**
 * Yields a WAVE file of the first `samples` samples of these channels in this order, block by
 * block, with a tone in place of the redacted spans; all other samples are unchanged. Throws
 * `storage_unreadable` when a file is shorter.
 */
export async function* redactedWave(
  channels: readonly RedactedChannel[],
  { samples }: { samples: number },
): AsyncGenerator<Uint8Array> {
  const files: FileHandle[] = []
  try {
    for (const { path } of channels) files.push(await open(path))
    const format = { encoding: 's16', sampleRate: SAMPLE_RATE, channels: channels.length } as const
    yield wavHeader(format, samples * channels.length * 2)
    for (let at = 0; at < samples; at += BLOCK_SAMPLES) {
      const length = Math.min(BLOCK_SAMPLES, samples - at)
      const block = new Int16Array(length * channels.length)
      for (const [i, { spans }] of channels.entries()) {
        const plane = await readSamples(files[i]!, { at, length })
        beepOver(plane, { at, spans })
        for (let n = 0; n < length; n++) block[n * channels.length + i] = plane[n]!
      }
      yield new Uint8Array(block.buffer)
    }
  } finally {
    for (const file of files) await file.close()
  }
}

async function readSamples(
  file: FileHandle,
  { at, length }: { at: number; length: number },
): Promise<Int16Array> {
  const samples = new Int16Array(length)
  const bytes = new Uint8Array(samples.buffer)
  for (let filledBytes = 0; filledBytes < bytes.length; ) {
    const { bytesRead } = await file.read(
      bytes,
      filledBytes,
      bytes.length - filledBytes,
      at * 2 + filledBytes,
    )
    if (bytesRead === 0) throw new AppError('storage_unreadable', 'the decoded audio is truncated')
    filledBytes += bytesRead
  }
  return samples
}
