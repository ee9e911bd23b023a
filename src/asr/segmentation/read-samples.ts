import { closeSync, openSync, readSync } from 'node:fs'
import { AppError } from '../../errors.ts'

/**
 * Reads samples `start` to `end` (exclusive) of a 16-bit little-endian mono file as floats from -1
 * to 1. Blocks, so only worker processes call it. Throws `storage_unreadable`.
 */
export function readSamples(path: string, start: number, end: number): Float32Array {
  const bytes = Buffer.alloc((end - start) * 2)
  let read = 0
  try {
    const file = openSync(path, 'r')
    try {
      while (read < bytes.length) {
        const count = readSync(file, bytes, read, bytes.length - read, start * 2 + read)
        if (count === 0) break
        read += count
      }
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw new AppError('storage_unreadable', 'the decoded audio of the job', { cause })
  }
  if (read < bytes.length)
    throw new AppError('storage_unreadable', 'the decoded audio is too short')
  const stored = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const samples = new Float32Array(end - start)
  for (let i = 0; i < samples.length; i++) samples[i] = stored.getInt16(i * 2, true) / 32_768
  return samples
}
