import { DAY_MS, steadyNow, wallNow } from '../../clock.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import { failJob, finishJob, type JobFailure } from '../../storage/jobs/finish-job.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import { hasLease, releaseJob, retryJob } from '../../storage/jobs/queue/lease.ts'
import type { AttemptOptions, TranscriptionResult } from '../pipeline/pipeline.ts'
import { deleteRedactedAudio } from '../pipeline/redacted-audio.ts'
import { type AttemptMetrics, createAttemptMetrics, type Observers } from './attempt-metrics.ts'
import { deleteOriginal, deleteRecordings } from './delete-recordings.ts'
import type { JobSlot } from './job-slots.ts'
import { type LeaseHeartbeat, LeaseLostError, startHeartbeat } from './lease-heartbeat.ts'
import { createProgressWriter } from './progress-writer.ts'
import { type OutcomeDeps, untilWritten, writeEnding } from './write-outcome.ts'

/** Base delay before the next attempt. It doubles each time, plus up to 50 % random jitter. */
const RETRY_PAUSE_MS = 1000
/**
 * Base delay before an unreachable source is fetched again. It is longer because host names and
 * networks take a while to recover.
 */
const FETCH_PAUSE_MS = 5000
/**
 * Delays in milliseconds of a job for which no worker process becomes ready, or a store is
 * unavailable.
 */
const UNAVAILABLE_PAUSES_MS: ReadonlyMap<ErrorCode, number> = new Map<ErrorCode, number>([
  ['engine_unavailable', 30_000],
  ['database_unavailable', 0],
  ['object_store_unavailable', 5000],
])
/** Errors after which a write is retried until the store is available. */
const STORE_UNAVAILABLE: ReadonlySet<ErrorCode> = new Set([
  'database_unavailable',
  'object_store_unavailable',
])

/**
 * How a job waits when there is no disk space: the pause before each attempt, and the total time
 * before it fails, in milliseconds.
 */
export type SpaceWait = { pauseMs: number; maxMs: number }

/** An operator has a day to free some space. */
const SPACE_WAIT: SpaceWait = { pauseMs: 30_000, maxMs: DAY_MS }

const LEASE_LOST = 'attempt dropped: the lease was lost'

/** Failures of the server, not of the recording: another attempt may succeed. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(['engine_failed'])

/** The dependencies of an attempt. */
export type AttemptDeps = Observers &
  OutcomeDeps & {
    maxAttempts: number
    /** Seconds one attempt may take; 0 = no limit. */
    timeout: number
    transcribe(job: ClaimedJob, options: AttemptOptions): Promise<TranscriptionResult>
    slot: JobSlot
    /** Removes the checkpoints of a job. */
    discard(jobId: string): Promise<void>
    /** Called when a job has ended, so that its receivers can be notified. */
    onEvents?: (() => void) | undefined
    /** How a job waits when there is no disk space. */
    spaceWait?: SpaceWait | undefined
  }

type Deps = AttemptDeps & { attemptMetrics: AttemptMetrics }

/**
 * Makes one attempt at a claimed job and writes its outcome. Rejects only if that cannot be
 * written.
 */
export async function runAttempt(attemptDeps: AttemptDeps, job: ClaimedJob): Promise<void> {
  const log = attemptDeps.log.child({ jobId: job.id, account: job.account, attempt: job.attempt })
  const attemptMetrics = createAttemptMetrics(attemptDeps, job)
  const deps = { ...attemptDeps, log, attemptMetrics }
  const heartbeat = startHeartbeat({ ...deps, timeoutSeconds: deps.timeout, lease: job.lease })
  let failure: unknown
  try {
    const transcribed = await transcribeWithProgress(deps, job, heartbeat)
    await completeAttempt(deps, job, transcribed)
  } catch (error) {
    failure = heartbeat.signal.aborted ? heartbeat.signal.reason : error
    await recordFailure(deps, job, { error: failure })
  } finally {
    await heartbeat.close()
    attemptMetrics.close(failure)
  }
}

/** Runs the pipeline and records its progress. */
async function transcribeWithProgress(
  { db, slot, log, attemptMetrics, transcribe }: Deps,
  job: ClaimedJob,
  { signal, withFreshTimeLimit }: LeaseHeartbeat,
): Promise<TranscriptionResult> {
  const progress = createProgressWriter({ db, log, lease: job.lease })
  try {
    const enter = (signal: AbortSignal) => withFreshTimeLimit(slot.enter(signal))
    return await transcribe(job, {
      signal,
      onProgress: progress.record,
      slot: { ...slot, enter },
      metrics: attemptMetrics,
    })
  } finally {
    await progress.close()
  }
}

async function completeAttempt(
  deps: Deps,
  job: ClaimedJob,
  { result, redactedAudio, usage }: TranscriptionResult,
): Promise<void> {
  const { db, log, attemptMetrics } = deps
  const { zeroRetention } = job
  const isDone = await writeEnding(deps, job.lease, {
    status: 'done',
    write() {
      const end = { result, redactedAudio, zeroRetention, usage, at: wallNow() }
      return finishJob(db, job.lease, end)
    },
    // A full disk fails the job. A store that is unavailable, or briefly locked by another process,
    // is retried.
    isFatal: (error) => error instanceof AppError && !STORE_UNAVAILABLE.has(error.code),
    async onNotEnded() {
      if (redactedAudio) await deleteRedactedAudio(deps, redactedAudio)
    },
  })
  if (!isDone) return log.warn('result dropped: the lease was lost')
  await dropOriginal(deps, job, { isReplaced: redactedAudio !== undefined })
  await discardCheckpoints(deps, job.id)
  deps.onEvents?.()
  attemptMetrics.ended()
  log.info('job done')
}

/** Requeues or fails a job whose attempt failed. */
async function recordFailure(
  deps: Deps,
  job: ClaimedJob,
  { error }: { error: unknown },
): Promise<void> {
  const { db, log, maxAttempts, attemptMetrics } = deps
  if (error instanceof LeaseLostError) return log.warn(LEASE_LOST)
  const code = error instanceof AppError ? error.code : 'internal'
  if (code === 'job_canceled') {
    await discardCheckpoints(deps, job.id)
    return log.info('attempt ended: the job was canceled')
  }
  if (code === 'server_stopping') {
    await releaseJob(db, job.lease, { runAfter: steadyNow() })
    return log.info('job returned to the queue: the server stops')
  }
  const pause = UNAVAILABLE_PAUSES_MS.get(code)
  if (pause !== undefined) {
    // The job waits without counting the attempt for as long as no recognizer, or no store, is
    // available.
    const write = () => releaseJob(db, job.lease, { runAfter: steadyNow() + pause })
    await untilWritten(deps, write)
    return log.warn({ err: error }, 'the attempt cannot continue, the job waits')
  }
  if (code === 'storage_full' && (await waitForSpace(deps, job, error))) return
  const isTransient = error instanceof AppError && error.isTransient
  if ((RETRYABLE.has(code) || isTransient) && job.attempt < maxAttempts) {
    log.warn({ err: error }, 'attempt failed, the job waits for the next')
    const runAfter = nextRun(job.attempt, isTransient ? FETCH_PAUSE_MS : RETRY_PAUSE_MS)
    await untilWritten(deps, () => retryJob(db, job.lease, { runAfter }))
    return
  }
  log.warn({ err: error }, 'job failed')
  // Frees the space first: on a full disk, the row cannot be written before that.
  if (!(await discardOwnCheckpoints(deps, job))) return
  const failure = describeFailure(error, job.attempt)
  const isFailed = await writeEnding(deps, job.lease, {
    status: 'error',
    write: () => failJob(db, job.lease, { failure, at: wallNow() }),
  })
  if (!isFailed) return
  await dropOriginal(deps, job, { isReplaced: false })
  deps.onEvents?.()
  attemptMetrics.ended(failure)
}

/**
 * Requeues a job that found no disk space, without counting the attempt; returns false if it has
 * waited too long. Removes its checkpoints first: on a full disk, this lets other jobs end, and the
 * row be written. Changes nothing if the lease was lost.
 */
async function waitForSpace(deps: Deps, job: ClaimedJob, error: unknown): Promise<boolean> {
  const { db, log, spaceWait = SPACE_WAIT } = deps
  const now = steadyNow()
  const since = job.spaceWaitSince ?? now
  if (now - since > spaceWait.maxMs) return false
  if (!(await discardOwnCheckpoints(deps, job))) return true
  const release = { runAfter: now + spaceWait.pauseMs, spaceWaitSince: since }
  await untilWritten(deps, () => releaseJob(db, job.lease, release))
  log.warn({ err: error }, 'the disk is full, the job waits')
  return true
}

/** Deletes the original recording of an ended job that keeps a redacted one, or no data. */
async function dropOriginal(
  deps: AttemptDeps,
  job: ClaimedJob,
  { isReplaced }: { isReplaced: boolean },
): Promise<void> {
  if (isReplaced) await deleteOriginal(deps, job)
  else if (job.zeroRetention) await deleteRecordings(deps, job.id)
}

/**
 * Removes the checkpoints of a job. A failure is only logged, since it must not keep the job from
 * ending; the next start removes the remaining files.
 */
async function discardCheckpoints({ log, discard }: AttemptDeps, jobId: string): Promise<void> {
  await discard(jobId).catch((error) => log.warn({ err: error }, 'cannot remove checkpoints'))
}

/**
 * Removes the checkpoints of a job unless the lease was lost; returns whether it is still held. The
 * next owner may share the data folder, and then uses the same checkpoints.
 */
async function discardOwnCheckpoints(deps: AttemptDeps, job: ClaimedJob): Promise<boolean> {
  const isOwn = await untilWritten(deps, () => hasLease(deps.db, job.lease))
  if (isOwn) await discardCheckpoints(deps, job.id)
  else deps.log.warn(LEASE_LOST)
  return isOwn
}

function nextRun(attempt: number, firstPauseMs: number): number {
  const pause = firstPauseMs * 2 ** (attempt - 1)
  return steadyNow() + pause + Math.round((Math.random() * pause) / 2)
}

function describeFailure(error: unknown, attempts: number): JobFailure {
  if (!(error instanceof AppError)) return toFailure(new AppError('internal'))
  if (!RETRYABLE.has(error.code)) return toFailure(error)
  return toFailure(attemptsExhausted(attempts, error.message))
}

/** The error of a job whose attempts all failed. */
function attemptsExhausted(attempts: number, reason: string): AppError {
  const detail =
    attempts === 1
      ? `its only attempt failed: ${reason}`
      : `all ${attempts} attempts failed; the last error was: ${reason}`
  return new AppError('attempts_exhausted', detail)
}

/** Returns the part of an error that a job shows. */
export function toFailure({ status, message }: AppError): JobFailure {
  return { code: status, message }
}
