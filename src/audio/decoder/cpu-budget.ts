import { AppError } from '../../errors.ts'
import { cpuSeconds } from '../../workers/cpu-time.ts'

/** Any file may take this long: an hour of stereo mp3 takes less. */
const FREE_SECONDS = 30
/** Stereo mp3 takes a two-hundredth: other codecs and eight channels stay far below. */
const PER_SECOND_OF_SOUND = 0.25
/** Allowance for reading a large file, such as a film: bytes per second of processor time. */
const BYTES_PER_SECOND = 10_000_000

/** The decoder's progress so far; `check` throws once it took too long for that. */
export type CpuBudget = { seconds: number; bytes: number; check(): void }

/**
 * Ends decoding that takes more and more processor time and returns no audio, as a file of nothing
 * but headers does: `media_undecodable`. `seconds` is the length of the decoded audio, `bytes` the
 * size of the file.
 */
export function createCpuBudget(readSeconds: () => number = cpuSeconds): CpuBudget {
  const work = {
    seconds: 0,
    bytes: 0,
    check() {
      const workedSeconds = readSeconds()
      const { seconds, bytes } = work
      if (workedSeconds <= FREE_SECONDS + seconds * PER_SECOND_OF_SOUND + bytes / BYTES_PER_SECOND)
        return
      const measuredText = `${Math.round(seconds)} s of audio in ${Math.round(workedSeconds)} s of work`
      throw new AppError('media_undecodable', measuredText)
    },
  }
  return work
}
