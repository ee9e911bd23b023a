import { AppError } from '../../errors.ts'
import { cpuSeconds } from '../../workers/cpu-time.ts'

/** The CPU time that every file may use; an hour of stereo MP3 needs less. */
const MIN_BUDGET_SECONDS = 30
/** Stereo MP3 needs 0.005 s per second; other codecs and 16 channels need far less than this. */
const SECONDS_PER_AUDIO_SECOND = 0.25
/** How fast a large file, such as a film, must be read, in bytes per second of CPU time. */
const BYTES_PER_SECOND = 10_000_000

/**
 * The progress of a decoder: `seconds` of decoded audio, and the `bytes` of the file. `check`
 * throws `media_undecodable` if it used too much CPU time for that progress.
 */
export type CpuBudget = { seconds: number; bytes: number; check(): void }

/**
 * Creates the budget of a decoder, which stops one that uses CPU time without producing audio, for
 * example for a file that consists of headers.
 */
export function createCpuBudget(readSeconds: () => number = cpuSeconds): CpuBudget {
  const budget = {
    seconds: 0,
    bytes: 0,
    check() {
      const usedSeconds = readSeconds()
      const { seconds, bytes } = budget
      if (
        usedSeconds <=
        MIN_BUDGET_SECONDS + seconds * SECONDS_PER_AUDIO_SECOND + bytes / BYTES_PER_SECOND
      )
        return
      const detail = `decoding took ${Math.round(usedSeconds)} s of processor time for ${Math.round(seconds)} s of audio`
      throw new AppError('media_undecodable', detail)
    },
  }
  return budget
}
