import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { type AudioFormat, frameBytes } from '../../../audio/audio-format.ts'
import {
  decodePcm,
  joinSamples,
  type PlanarSamples,
  SAMPLE_RATE,
  toInt16,
} from '../../../audio/pcm.ts'
import { createResampler, gcd } from '../../../audio/resample.ts'
import { AppError, isDiskFull } from '../../../errors.ts'

/** The location and the amount of raw audio. */
export type RawAudio = {
  path: string
  start: number
  format: AudioFormat
  /** Frames of `format` that `path` holds, and whether no more follow. */
  frames: number
  isEnd: boolean
}

/**
 * Extra frames read before and after the range: more than half a filter of the resampler at any
 * rate, so that a range equals the same range of the whole.
 */
const MARGIN = 1024

/**
 * Returns samples `from` to `to` of every channel at 16 kHz, in [-1, 1]; fewer when the audio has
 * not arrived yet. Depends on audio and position alone: joined ranges equal the whole, bit for bit.
 */
export function convertAudio(
  { path, start, format, frames, isEnd }: RawAudio,
  { from, to }: { from: number; to: number },
): PlanarSamples {
  const divisor = gcd(format.sampleRate, SAMPLE_RATE)
  const [ratioIn, ratioOut] = [format.sampleRate / divisor, SAMPLE_RATE / divisor]
  // The resampler has the same state at every frame that coincides with a sample at 16 kHz.
  const firstUnit = Math.max(0, Math.floor(from / ratioOut - MARGIN / ratioIn))
  const first = firstUnit * ratioIn
  const last = Math.min(frames, Math.ceil((to * ratioIn) / ratioOut) + MARGIN)
  if (first >= last) return Array.from({ length: format.channels }, () => new Float32Array(0))
  const size = frameBytes(format)
  const bytes = readBytes(path, start + first * size, (last - first) * size)
  const skip = from - firstUnit * ratioOut
  return decodePcm(bytes, format).map((plane) => {
    const resampler = createResampler(format.sampleRate, SAMPLE_RATE)
    const resampled = resampler.write(plane)
    if (!isEnd || last < frames) return resampled.slice(skip, skip + to - from)
    const allSamples = joinSamples(resampled, resampler.flush())
    return allSamples.slice(skip, skip + to - from)
  })
}

/**
 * Writes 16-bit samples at position `at` (in samples) of a channel's file; creates the file if
 * needed.
 */
export function writeChannel(path: string, at: number, samples: Int16Array): void {
  try {
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    try {
      const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(file, bytes, done, bytes.length - done, at * 2 + done)
      }
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (isDiskFull(cause))
      throw new AppError('storage_full', 'no space for the audio of the session', { cause })
    throw new AppError('storage_unreadable', `the audio of the session (${code})`, { cause })
  }
}

/** Rounds to 16-bit samples, padded with silence to whole frames of `frame` samples. */
export function roundedFrames(plane: Float32Array, frame: number): Int16Array<ArrayBuffer> {
  const padded = new Int16Array(Math.ceil(plane.length / frame) * frame)
  padded.set(toInt16(plane))
  return padded
}

/** Returns the loudness of 16-bit samples as a root mean square, 0 to 1. */
export function rmsOf(samples: Int16Array): number {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return Math.sqrt(sum / Math.max(1, samples.length)) / 32_768
}

/** The lowest level reported: digital silence has no logarithm. */
const SILENCE = -100

/** Converts a loudness to decibels below full scale. */
export function decibels(loudness: number): number {
  return loudness === 0 ? SILENCE : Math.max(SILENCE, 20 * Math.log10(loudness))
}

function readBytes(path: string, from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let read = 0
  try {
    const file = openSync(path, 'r')
    try {
      while (read < length) {
        const count = readSync(file, bytes, read, length - read, from + read)
        if (count === 0) break
        read += count
      }
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw new AppError('storage_unreadable', 'the audio of the session', { cause })
  }
  if (read < length)
    throw new AppError('storage_unreadable', 'the audio of the session is too short')
  return bytes
}
