import type { Log } from '../../observability/log.ts'
import { findActivePreRecordedJobs } from '../../storage/jobs/queue/queue-maintenance.ts'
import type { Storage } from '../../storage/storage.ts'
import { runMaintenance } from '../maintenance.ts'
import { removeCheckpoints, removeStaleCheckpoints } from '../pipeline/checkpoints/checkpoints.ts'
import { runPipeline } from '../pipeline/pipeline.ts'
import type { PipelineDeps } from '../pipeline/pipeline-deps.ts'
import { runSearchIndex } from '../search-index.ts'
import type { SpaceWait } from './attempt.ts'
import type { Observers } from './attempt-metrics.ts'
import { QueueLoop } from './queue-loop.ts'

/** The dependencies of the runner. */
export type JobRunnerOptions = Observers & {
  deps: PipelineDeps
  log: Log
  /** The parts of the storage that maintenance needs. */
  storage: Partial<Pick<Storage, 'orphans' | 'deletionClock'>>
  onEvents?: (() => void) | undefined
  onDeleted?: ((jobId: string) => void) | undefined
  /** Whether finished transcripts are indexed for search; default true. */
  indexesTranscripts?: boolean | undefined
  /** Milliseconds that running jobs may continue after the server begins to stop. */
  graceMs?: number | undefined
  /** How a job waits when there is no disk space. */
  spaceWait?: SpaceWait | undefined
}

const GRACE_MS = 5000
/**
 * Minimum slots: with fewer, a job of minutes would delay every short one on a single-core machine.
 */
const MIN_SLOTS = 2

/** Runs the queued jobs of recordings, and the maintenance of the storage. */
export class JobRunner {
  readonly #options: JobRunnerOptions
  readonly #queue: QueueLoop
  readonly #closed = new AbortController()
  #maintenance: Promise<unknown> = Promise.resolve()

  constructor(options: JobRunnerOptions) {
    const { deps, log, metrics, tracing, graceMs = GRACE_MS, onEvents, spaceWait } = options
    const { maxAttempts, timeout, queueTimeout, maxConcurrentPerAccount } = deps.config.jobs
    this.#options = options
    this.#queue = new QueueLoop({
      db: deps.db,
      log,
      metrics,
      tracing,
      onEvents,
      graceMs,
      spaceWait,
      maxAttempts,
      timeout,
      queueTimeout,
      maxPerAccount: maxConcurrentPerAccount,
      slots: Math.max(MIN_SLOTS, deps.speech.workers),
      transcribe: (job, options) => runPipeline(deps, job, options),
      discard: (jobId) => removeCheckpoints(deps.workFolder, jobId),
    })
  }

  /**
   * Starts to run the queued jobs, including those that an earlier process left unfinished, and the
   * maintenance.
   */
  async start(): Promise<void> {
    const { deps, log, storage, onDeleted, indexesTranscripts = true } = this.#options
    const { db, workFolder, config } = deps
    await removeStaleCheckpoints(workFolder, () => findActivePreRecordedJobs(db))
    await this.#queue.start()
    const { uploadTtl, retentionDays, orphanDays, auditDays, zeroRetentionWait } = config.storage
    const { orphans, deletionClock } = storage
    const mayDelete = () => deletionClock?.mayDelete() ?? true
    const days = { retentionDays, orphanDays, auditDays, zeroRetentionWait }
    const work = { workFolder, findRunning: () => this.#queue.runningJobs() }
    const maintenanceOptions = { uploadTtl, ...days, ...work, onDeleted, orphans, mayDelete }
    const { signal } = this.#closed
    const { resultBuilder } = deps
    this.#maintenance = Promise.all([
      runMaintenance({ db, log, ...maintenanceOptions, signal }),
      indexesTranscripts && runSearchIndex({ db, resultBuilder, log, signal }),
    ])
  }

  /** Polls the queue now: a job of this account was queued. */
  wake(queued: { account: string; hasRecording: boolean }): void {
    this.#queue.wake(queued)
  }

  /** Ends the attempt at a job that was canceled; returns whether there was one. */
  cancel(jobId: string): boolean {
    return this.#queue.cancel(jobId)
  }

  /** Estimates the seconds until the account can queue another job. */
  secondsUntilNext(account: string): number {
    return this.#queue.secondsUntilNext(account)
  }

  /** Resolves when no job is waiting or running. */
  idle(): Promise<void> {
    return this.#queue.idle()
  }

  /** Starts no more jobs, gives running ones the grace time to end, and requeues the others. */
  drain(): Promise<void> {
    return this.#queue.close()
  }

  /** Ends the maintenance, and drains. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#maintenance
    await this.drain()
  }
}
