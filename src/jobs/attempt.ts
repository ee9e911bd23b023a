import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type ErrorCode } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Db } from '../storage/db.ts'
import { failJob, finishJob, type JobFailure, releaseJob, retryJob } from '../storage/jobs/lease.ts'
import { type JobProgress, recordProgress } from '../storage/jobs/progress.ts'
import type { ClaimedJob } from '../storage/jobs/queue.ts'
import { type AttemptMetrics, createAttemptMetrics, type Observers } from './attempt-metrics.ts'
import { steadyNow } from './clock.ts'
import type { AcquireSlot } from './job-slots.ts'
import { type LeaseHeartbeat, LeaseLostError, startHeartbeat } from './lease-heartbeat.ts'
import type { Transcribed, TranscribeOptions } from './pipeline.ts'
import { deleteOriginal, deleteRedactedAudio } from './redacted-audio.ts'

/** Base of the pause before a further attempt; doubled each time, plus up to half of it at random. */
const RETRY_PAUSE_MS = 1000
/** The same before a source is fetched again that could not be reached: longer, names and networks take a while. */
const FETCH_PAUSE_MS = 5000
/** Pause of a job while no worker process gets ready. */
const ENGINE_PAUSE_MS = 30_000
/** Pause of a job for which there is no space on the disk. */
const SPACE_PAUSE_MS = 30_000
/** So long a job waits for space in all, before it fails: an operator has had a day to free some. */
const MAX_SPACE_WAIT_MS = 24 * 3_600_000
/** Pause before another try to write how a job ended, after the database refused. */
const WRITE_PAUSE_MS = 1000

/** Failures of the machinery, not of the recording: another attempt may succeed. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(['engine_failed'])

/** What an attempt needs. */
export type AttemptTools = Observers & {
  db: Db
  log: Log
  maxAttempts: number
  /** Seconds one attempt may take; 0 = no limit. */
  timeout: number
  transcribe(job: ClaimedJob, options: TranscribeOptions): Promise<Transcribed>
  enter: AcquireSlot
  /** Removes what the stages of a job left behind. */
  discard(jobId: string): Promise<void>
  /** Aborted when the server stops: the job then goes back as if the attempt had not been made. */
  stop: AbortSignal
  /** Called when a job has ended, for those who are told of it. */
  onEvents?: (() => void) | undefined
  /** For tests: what waits before the database is asked again; the clock unless it is given. */
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** For tests: pause of a job for which there is no space, in milliseconds. */
  spacePauseMs?: number | undefined
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal })
}

type Tools = AttemptTools & { meter: AttemptMetrics }

/** Makes one attempt at a claimed job and writes how it ended; fails only when that cannot be written. */
export async function runAttempt(given: AttemptTools, job: ClaimedJob): Promise<void> {
  const log = given.log.child({ jobId: job.id, account: job.account, attempt: job.attempt })
  const meter = createAttemptMetrics(given, job)
  const tools = { ...given, log, meter }
  const watch = startHeartbeat({ ...tools, lease: job.lease })
  let failure: unknown
  try {
    const transcribed = await transcribeTold(tools, job, watch)
    await finish(tools, job, transcribed)
  } catch (error) {
    failure = watch.signal.aborted ? watch.signal.reason : error
    await settleFailure(tools, job, { error: failure })
  } finally {
    await watch.close()
    meter.close(failure)
  }
}

/** Transcribes, and writes down how far it is. */
async function transcribeTold(
  { db, enter, log, meter, transcribe }: Tools,
  job: ClaimedJob,
  { signal, untimed }: LeaseHeartbeat,
): Promise<Transcribed> {
  let written = Promise.resolve()
  function onProgress(progress: JobProgress): void {
    const write = () => recordProgress(db, job.lease, progress)
    // Best effort: a full disk that refuses this is met where it matters.
    written = written
      .then(write)
      .catch((error) => log.debug({ err: error }, 'progress not written'))
  }
  try {
    const enterUntimed = (signal: AbortSignal) => untimed(enter(signal))
    return await transcribe(job, { signal, onProgress, enter: enterUntimed, meter })
  } finally {
    await written
  }
}

async function finish(
  tools: Tools,
  job: ClaimedJob,
  { result, redactedSound }: Transcribed,
): Promise<void> {
  const { db, log, meter } = tools
  const write = () => finishJob(db, job.lease, { result, redactedSound, at: Date.now() })
  // A full disk is a failure of the job; a database that another program holds for a while is not.
  const isFatal = (error: unknown) => error instanceof AppError
  let done = false
  try {
    done = await untilWritten(tools, write, { isFatal })
  } finally {
    if (!done && redactedSound) await deleteRedactedAudio(tools, redactedSound)
  }
  if (!done) return log.warn('result dropped: the lease was lost')
  if (redactedSound) await deleteOriginal(tools, job)
  await discard(tools, job.id)
  tools.onEvents?.()
  meter.ended()
  log.info('job done')
}

/** Decides what becomes of a job whose attempt failed, and writes it. */
async function settleFailure(
  tools: Tools,
  job: ClaimedJob,
  { error }: { error: unknown },
): Promise<void> {
  const { db, log, maxAttempts, meter } = tools
  if (error instanceof LeaseLostError) return log.warn('attempt dropped: the lease was lost')
  const code = error instanceof AppError ? error.code : 'internal'
  if (code === 'server_stopping') {
    await releaseJob(db, job.lease, { runAfter: steadyNow() })
    return log.info('job handed back: the server stops')
  }
  if (code === 'engine_unavailable') {
    // Not the fault of the job: it waits as long as nobody can hear it.
    const runAfter = steadyNow() + ENGINE_PAUSE_MS
    await untilWritten(tools, () => releaseJob(db, job.lease, { runAfter }))
    return log.warn({ err: error }, 'no recognizer works, the job waits')
  }
  if (code === 'storage_full' && (await waitForSpace(tools, job, error))) return
  const isPassing = error instanceof AppError && error.isPassing
  if ((RETRYABLE.has(code) || isPassing) && job.attempt < maxAttempts) {
    log.warn({ err: error }, 'attempt failed, the job waits for another')
    const runAfter = nextRun(job.attempt, isPassing ? FETCH_PAUSE_MS : RETRY_PAUSE_MS)
    await untilWritten(tools, () => retryJob(db, job.lease, { runAfter }))
    return
  }
  log.warn({ err: error }, 'job failed')
  // First of all the space: on a full disk the row can only be written once there is some.
  await discard(tools, job.id)
  const failure = describeFailure(error, job.attempt)
  const write = () => failJob(db, job.lease, { failure, at: Date.now() })
  if (!(await untilWritten(tools, write))) return
  tools.onEvents?.()
  meter.ended(failure)
}

/**
 * Puts a job back that found no space, without counting the attempt; false when it has waited for too long.
 * What its stages take is freed first: on a full disk that lets others end, and the row be written.
 */
async function waitForSpace(tools: Tools, job: ClaimedJob, error: unknown): Promise<boolean> {
  const { db, log, spacePauseMs = SPACE_PAUSE_MS } = tools
  const now = steadyNow()
  const since = job.spaceWaitSince ?? now
  if (now - since > MAX_SPACE_WAIT_MS) return false
  await discard(tools, job.id)
  const release = { runAfter: now + spacePauseMs, spaceWaitSince: since }
  await untilWritten(tools, () => releaseJob(db, job.lease, release))
  log.warn({ err: error }, 'the disk is full, the job waits')
  return true
}

/** What cannot be removed now is removed at the next start; it must not keep a job from ending. */
async function discard({ log, discard }: AttemptTools, jobId: string): Promise<void> {
  await discard(jobId).catch((error) => log.warn({ err: error }, 'stages not removed'))
}

function nextRun(attempt: number, firstPauseMs: number): number {
  const pause = firstPauseMs * 2 ** (attempt - 1)
  return steadyNow() + pause + Math.round((Math.random() * pause) / 2)
}

function describeFailure(error: unknown, attempts: number): JobFailure {
  if (!(error instanceof AppError)) return toFailure(new AppError('internal'))
  if (!RETRYABLE.has(error.code)) return toFailure(error)
  return toFailure(exhausted(attempts, error.message))
}

/** The end of a job whose attempts all failed. */
function exhausted(attempts: number, reason: string): AppError {
  const detail = `it was started ${attempts} times, the last attempt ended so: ${reason}`
  return new AppError('attempts_exhausted', detail)
}

/** What a job shows of an error. */
export function toFailure({ status, message }: AppError): JobFailure {
  return { code: status, message }
}

/** Writes again and again while the database refuses, until the server stops; then the next start settles it. */
async function untilWritten(
  { log, stop, pause = wait }: AttemptTools,
  write: () => Promise<boolean>,
  { isFatal = () => false }: { isFatal?: (error: unknown) => boolean } = {},
): Promise<boolean> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (isFatal(error) || stop.aborted) throw error
      log.error({ err: error }, 'cannot write how the job ended, trying again')
      await pause(WRITE_PAUSE_MS, stop)
    }
  }
}
