import { AppError } from '../../errors.ts'
import { cpuSeconds } from '../../workers/cpu-time.ts'

/** The processor time that every file may use; an hour of stereo MP3 needs less. */
const MIN_BUDGET_SECONDS = 30
/** Stereo MP3 needs 0.005 s per second; other codecs and eight channels need far less than this. */
const SECONDS_PER_AUDIO_SECOND = 0.25
/** How fast a large file, such as a film, must be read: bytes per second of processor time. */
const BYTES_PER_SECOND = 10_000_000

/**
 * The progress of a decoder; `check` throws if it used too much processor time for that progress.
 */
export type CpuBudget = { seconds: number; bytes: number; check(): void }

/**
 * Stops a decoder that uses processor time without producing audio, as for a file of only headers,
 * with `media_undecodable`. `seconds` is the length of the decoded audio, `bytes` the size of the
 * file.
 */
export function createCpuBudget(readSeconds: () => number = cpuSeconds): CpuBudget {
  const work = {
    seconds: 0,
    bytes: 0,
    check() {
      const workedSeconds = readSeconds()
      const { seconds, bytes } = work
      if (
        workedSeconds <=
        MIN_BUDGET_SECONDS + seconds * SECONDS_PER_AUDIO_SECOND + bytes / BYTES_PER_SECOND
      )
        return
      const measuredText = `${Math.round(seconds)} s of audio in ${Math.round(workedSeconds)} s of work`
      throw new AppError('media_undecodable', measuredText)
    },
  }
  return work
}
