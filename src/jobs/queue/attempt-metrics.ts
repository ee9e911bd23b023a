import { secondsSince, steadyNow } from '../../clock.ts'
import { type JobOutcome, type Metrics, outcomeOf } from '../../observability/metrics.ts'
import { noTracing, type Tracing, traced } from '../../observability/tracing.ts'
import type { JobFailure } from '../../storage/jobs/finish-job.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import type { ProgressStage } from '../pipeline/progress.ts'

/** Where attempts are counted and traced. */
export type Observers = { metrics?: Metrics | undefined; tracing?: Tracing | undefined }

/**
 * Measures one attempt at a job. The metrics of the end of a job are counted only once that end is
 * stored.
 */
export type AttemptMetrics = {
  /**
   * Runs and measures the work of a stage. `wait` is the wait for a slot, between fetching and
   * decoding.
   */
  stage<T>(name: ProgressStage | 'wait', work: () => Promise<T>): Promise<T>
  /**
   * Reports that the transcript is ready: the seconds of audio, and the seconds of work since the
   * attempt got its slot.
   */
  recognized(audio: { audioSeconds: number; workSeconds: number }): void
  /** Reports that the job has ended, with its result or with a failure. */
  ended(failure?: JobFailure): void
  /** Ends the measurement, with an `error` if the attempt failed. */
  close(error?: unknown): void
}

/** Starts to measure an attempt at a job that was just claimed. */
export function createAttemptMetrics(
  { metrics, tracing = noTracing }: Observers,
  job: ClaimedJob,
): AttemptMetrics {
  const claimedAt = performance.now()
  metrics?.jobQueueSeconds.observe(Math.max(0, steadyNow() - job.dueAt) / 1000)
  const attributes = { 'steno.job.id': job.id, 'steno.job.attempt': job.attempt }
  const span = tracing.start('job attempt', attributes)
  let recognized: { audioSeconds: number; workSeconds: number } | undefined

  function count(outcome: JobOutcome): void {
    const kind = 'pre-recorded'
    metrics?.jobsEnded.inc({ kind, outcome })
    metrics?.jobSeconds.observe(secondsSince(claimedAt))
    if (outcome !== 'done' || !recognized) return
    const { audioSeconds, workSeconds } = recognized
    metrics?.audioSeconds.inc({ kind }, audioSeconds)
    if (audioSeconds > 0) metrics?.jobRealTimeFactor.observe(workSeconds / audioSeconds)
  }

  return {
    async stage(stage, work) {
      metrics?.jobsInStage.inc({ stage })
      try {
        return await traced(span.start(stage), work)
      } finally {
        metrics?.jobsInStage.dec({ stage })
      }
    },
    recognized(audio) {
      recognized = audio
      span.set({ 'steno.audio.seconds': audio.audioSeconds })
    },
    ended: (failure) => count(failure ? outcomeOf(failure) : 'done'),
    close: (error) => span.end(error),
  }
}
