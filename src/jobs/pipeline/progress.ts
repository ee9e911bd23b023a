import type { JobProgress } from '../../storage/jobs/queue/job-state.ts'

/** The part of each stage in the progress of the whole job, roughly by its cost. */
const stages = {
  fetch: { from: 0, to: 0.05 },
  'pull model': { from: 0.05, to: 0.15 },
  decode: { from: 0.05, to: 0.15 },
  'detect speech': { from: 0.15, to: 0.22 },
  'identify languages': { from: 0.22, to: 0.25 },
  recognize: { from: 0.25, to: 0.9 },
  diarize: { from: 0.9, to: 0.93 },
  'build result': { from: 0.93, to: 0.94 },
  'call services': { from: 0.94, to: 0.99 },
  'redact audio': { from: 0.99, to: 1 },
} as const

/** A stage of the pipeline, by name. */
export type ProgressStage = keyof typeof stages

/** Progress is reported at this interval, and when a stage begins. */
const REPORT_INTERVAL_MS = 1000
/** The rate of a stage is not used for estimates before this fraction of it is done. */
const MIN_FRACTION_FOR_ESTIMATE = 0.02

/** Records the progress of a job. */
export type Progress = {
  /** Begins a stage, of which an earlier attempt has finished the fraction `done`. */
  enter(stage: ProgressStage, done?: number): void
  /**
   * Records the fraction of the current stage that is done, 0 to 1, and the seconds left of the
   * stage if it knows them.
   */
  advance(fraction: number, secondsLeft?: number | null): void
}

/**
 * Converts the progress of stages into that of the job, and reports it about once a second. The
 * seconds left are estimated only while speech is recognized, from the rate of that stage: stages
 * differ too much to estimate one from another. `now` returns milliseconds.
 */
export function createProgress(
  report: (progress: JobProgress) => void,
  now: () => number = () => performance.now(),
): Progress {
  let stage: ProgressStage = 'fetch'
  let start = { at: now(), done: 0 }
  let reportedAt = Number.NEGATIVE_INFINITY
  /**
   * The highest reported fraction. Progress never decreases, although not all jobs have every
   * stage.
   */
  let reached = 0

  function emit(done: number, givenSecondsLeft: number | null = null): void {
    reportedAt = now()
    const { from, to } = stages[stage]
    const gained = done - start.done
    const rate = gained / (reportedAt - start.at)
    const canEstimate = stage === 'recognize' && gained >= MIN_FRACTION_FOR_ESTIMATE && rate > 0
    const secondsLeft = canEstimate ? Math.ceil((1 - done) / rate / 1000) : givenSecondsLeft
    reached = Math.max(reached, from + done * (to - from))
    report({ stage, fraction: reached, secondsLeft })
  }

  return {
    enter(next, done = 0) {
      stage = next
      start = { at: now(), done }
      emit(done)
    },
    advance(fraction, secondsLeft) {
      if (now() - reportedAt >= REPORT_INTERVAL_MS) emit(fraction, secondsLeft)
    },
  }
}
