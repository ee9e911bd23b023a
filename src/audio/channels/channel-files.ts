import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, isDiskFull } from '../../errors.ts'
import { type PlanarSamples, toInt16 } from '../pcm.ts'
import { createChannelComparison } from './duplicate-channels.ts'

/** Returns the name of a channel's file within its folder. */
export function channelFile(channel: number): string {
  return `ch${channel}.pcm`
}

/** Receives the samples of a recording, at 16 kHz. */
export type ChannelOutput<T> = {
  /** The number of samples so far, per channel. */
  readonly samples: number
  write(planes: PlanarSamples): void
  /** Returns the result for each channel; files are synced to disk. */
  finish(): T[]
  close(): void
}

/**
 * Creates one file per channel in `folder`. Writes are synchronous: a slow disk slows the decoder
 * down, and nothing accumulates in memory. A full disk throws `storage_full`.
 */
export function createChannelFiles(
  folder: string,
  channels: number,
): ChannelOutput<DecodedChannel> {
  const paths = Array.from({ length: channels }, (_, channel) => join(folder, channelFile(channel)))
  const comparison = createChannelComparison(channels)
  const files = withWriteErrors(() => {
    mkdirSync(folder, { recursive: true })
    return paths.map((path) => openSync(path, 'w'))
  })
  let samples = 0

  function write(planes: PlanarSamples): void {
    comparison.write(planes)
    samples += planes[0]!.length
    withWriteErrors(() => {
      for (const [channel, plane] of planes.entries()) writeAll(files[channel]!, toInt16(plane))
    })
  }

  function finish(): DecodedChannel[] {
    withWriteErrors(() => files.forEach(fsyncSync))
    const duplicates = comparison.result()
    return paths.map((path, channel) => ({ channel, path, samples, sameAs: duplicates[channel]! }))
  }

  return {
    get samples() {
      return samples
    },
    write,
    finish,
    close: () => files.forEach(closeSync),
  }
}

function writeAll(file: number, samples: Int16Array): void {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

function withWriteErrors<T>(write: () => T): T {
  try {
    return write()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (isDiskFull(cause))
      throw new AppError('storage_full', 'no space for the decoded audio', { cause })
    throw new AppError('storage_unreadable', `the folder for decoded audio (${code})`, { cause })
  }
}

/** One channel of the recording as a file of 16-bit little-endian samples at 16 kHz. */
export type DecodedChannel = {
  channel: number
  path: string
  samples: number
  /** The lowest channel with the same audio; null if no lower channel has it. */
  sameAs: number | null
}
