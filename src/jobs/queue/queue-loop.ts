import { steadyNow, wallNow } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { outcomeOf } from '../../observability/metrics.ts'
import { OutageLog } from '../../observability/outage-log.ts'
import type { JobFailure } from '../../storage/jobs/finish-job.ts'
import { type ClaimedJob, claimJob } from '../../storage/jobs/queue/claim-job.ts'
import {
  failExhaustedJobs,
  failOverdueJobs,
  findActivePreRecordedJobs,
  makeWaitingDue,
  type QueueState,
  readQueueState,
  requeueJobsOfDeadNodes,
  requeueJobsOfExpiredLeases,
} from '../../storage/jobs/queue/queue-maintenance.ts'
import { type AttemptDeps, runAttempt, toFailure } from './attempt.ts'
import { JobSlots, type SlotLimits } from './job-slots.ts'
import { LEASE_MS } from './lease-heartbeat.ts'

/** Pause of the queue after the database refused a statement. */
const ERROR_PAUSE_MS = 1000

/** The queue is polled at least this often if other nodes create jobs and return them. */
const SHARED_POLL_MS = 2000

/** The dependencies of the queue loop. */
export type QueueLoopOptions = Omit<AttemptDeps, 'stop' | 'slot'> &
  SlotLimits & {
    /** Seconds a job may wait; 0 = no limit. */
    queueTimeout: number
    /** Milliseconds that running jobs may continue after the server begins to stop. */
    graceMs: number
  }

/**
 * Claims jobs from the queue and makes attempts at them. Polls the queue when it is woken (a job
 * was created, here or by another node, or an attempt ended), when a waiting job becomes due, and
 * at least once per lease; more often on a shared database, since notifications of other nodes
 * may be lost.
 */
export class QueueLoop {
  readonly #options: QueueLoopOptions
  readonly #slots: JobSlots
  readonly #outages: OutageLog
  readonly #stop = new AbortController()
  #closing = false
  /** Whether the next free slot goes to an attempt that has fetched, before a queued job. */
  #prefersWaiting = true
  #loop: Promise<void> = Promise.resolve()
  #endListening: (() => void) | undefined
  #woken = Promise.withResolvers<void>()
  #changed = Promise.withResolvers<void>()

  constructor(options: QueueLoopOptions) {
    this.#options = options
    this.#outages = new OutageLog(options.log, {
      level: 'error',
      failed: 'cannot read the queue',
      recovered: 'reading the queue again',
    })
    this.#slots = new JobSlots(options, () => {
      this.#woken.resolve()
      this.#notify()
    })
  }

  /** Requeues the jobs whose owner is dead, then starts to claim jobs. */
  async start(): Promise<void> {
    await makeWaitingDue(this.#options.db, { now: steadyNow() })
    await this.#requeueAbandoned(steadyNow())
    this.#endListening = this.#options.db.jobNotifier?.listen(() => {
      if (this.#slots.findStartable()) this.#woken.resolve()
    })
    this.#loop = this.#run()
  }

  /**
   * Polls the queue now because a job was created, unless the job can neither start nor time out.
   */
  wake(job: Pick<ClaimedJob, 'account' | 'hasRecording'>): void {
    if (this.#slots.hasSlotFor(job) || this.#options.queueTimeout > 0) this.#woken.resolve()
  }

  /** Returns the estimated seconds until the next job of an account is claimed. */
  secondsUntilNext(account: string): number {
    return this.#slots.secondsUntilNext(account)
  }

  /** Returns the ids of the jobs that this process is running. */
  runningJobs(): string[] {
    return this.#slots.ids()
  }

  /** Ends the attempt at a job that was canceled; returns whether there was one. */
  cancel(jobId: string): boolean {
    const isRunning = this.#slots.ids().includes(jobId)
    this.#slots.abort(jobId, new AppError('job_canceled'))
    this.#notify()
    return isRunning
  }

  /** Resolves when no job is waiting or running. */
  async idle(): Promise<void> {
    while (!this.#closing) {
      const changed = this.#changed.promise
      const active = await findActivePreRecordedJobs(this.#options.db)
      if (active.length === 0 && this.#slots.size === 0) return
      await changed
    }
  }

  /**
   * Claims no more jobs. Working attempts may end within the grace time, then their jobs return to
   * the queue; attempts that only fetch or wait return their jobs at once.
   */
  async close(): Promise<void> {
    this.#closing = true
    this.#endListening?.()
    this.#woken.resolve()
    this.#notify()
    await this.#loop
    const reason = new AppError('server_stopping')
    this.#slots.abortIdle(reason)
    const ended = this.#slots.ended()
    const stop = () => this.#stop.abort(reason)
    const timer = setTimeout(stop, this.#options.graceMs)
    await ended
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    while (!this.#closing) {
      // Replaced before polling, so that a job created meanwhile wakes the loop again.
      this.#woken = Promise.withResolvers()
      const pauseMs = await this.#fill().catch((error) => {
        this.#outages.failed(error)
        return ERROR_PAUSE_MS
      })
      const timer = setTimeout(() => this.#woken.resolve(), pauseMs)
      await this.#woken.promise
      clearTimeout(timer)
    }
  }

  /**
   * Fills every free slot with a job. Returns the milliseconds until the queue has to be polled
   * again.
   */
  async #fill(): Promise<number> {
    const { db, queueTimeout } = this.#options
    // One timestamp for all statements: the loop then waits for jobs that become due while polling.
    const now = steadyNow()
    const state = await this.#repair(now)
    let unclaimed = state.dueJobs
    const claimNext = async () => unclaimed-- > 0 && (await this.#claimNext(now))
    let hasStarted = true
    while (hasStarted && !this.#closing) {
      hasStarted = (this.#prefersWaiting && this.#grantSlot()) || (await claimNext())
    }
    // Slots that the queue leaves free go to waiting attempts.
    while (!this.#closing && this.#grantSlot());
    this.#outages.succeeded()
    const latest = now + (db.isShared ? SHARED_POLL_MS : LEASE_MS)
    const { oldestDue, nextDue = latest } = state
    const overdue = queueTimeout > 0 && oldestDue ? oldestDue + queueTimeout * 1000 + 1 : nextDue
    return Math.max(0, Math.min(nextDue, overdue, latest) - steadyNow())
  }

  /** Starts the next queued job that fits the limits. Returns false if there is none. */
  async #claimNext(now: number): Promise<boolean> {
    const { db, log, maxAttempts, maxPerAccount } = this.#options
    const startable = this.#slots.findStartable()
    if (!startable) return false
    const limits = { leaseMs: LEASE_MS, maxAttempts, maxPerAccount, ...startable }
    const job = await claimJob(db, { owner: db.nodeId, now, ...limits })
    if (!job) return false
    this.#slots.start(job, (slot, signal) => {
      const stop = AbortSignal.any([this.#stop.signal, signal])
      return runAttempt({ ...this.#options, slot, stop }, job).catch((error) =>
        log.error({ err: error, jobId: job.id }, 'cannot store the outcome of a job'),
      )
    })
    if (job.hasRecording) this.#prefersWaiting = true
    return true
  }

  #grantSlot(): boolean {
    const isGranted = this.#slots.grantSlot()
    if (isGranted) this.#prefersWaiting = false
    return isGranted
  }

  /**
   * Requeues abandoned jobs, and fails the waiting jobs that get no further attempt. Returns the
   * state of the queue after that. Mostly there is nothing to do, so a read precedes the writes.
   */
  async #repair(now: number): Promise<QueueState> {
    const { db, maxAttempts, queueTimeout } = this.#options
    const options = { now, maxAttempts, running: this.#slots.ids() }
    let state = await readQueueState(db, options)
    if (state.hasAbandoned) {
      await this.#requeueAbandoned(now)
      state = await readQueueState(db, options)
    }
    const since = now - queueTimeout * 1000
    const isOverdue = queueTimeout > 0 && state.oldestDue !== undefined && state.oldestDue < since
    if (!state.hasExhausted && !isOverdue) return state
    const at = wallNow()
    if (state.hasExhausted) {
      const reason = 'the server stopped or hung each time the job was running'
      const failure = toFailure(new AppError('attempts_exhausted', reason))
      await this.#cleanUp(failExhaustedJobs(db, { maxAttempts, failure, at }), failure)
    }
    if (isOverdue) {
      const detail = `it waited for ${queueTimeout} s (STENO_QUEUE_TIMEOUT_S)`
      const failure = toFailure(new AppError('queue_timeout', detail))
      await this.#cleanUp(failOverdueJobs(db, { since, failure, at }), failure)
    }
    return readQueueState(db, options)
  }

  /**
   * Requeues the jobs of dead owners, and those whose owner has not renewed its lease for too long.
   */
  async #requeueAbandoned(now: number): Promise<void> {
    const { db, log } = this.#options
    const returned = await requeueJobsOfDeadNodes(db, { now })
    if (returned > 0) {
      log.info({ returned }, 'resuming jobs of an earlier run')
      db.jobNotifier?.notify()
    }
    await requeueJobsOfExpiredLeases(db, { now, running: this.#slots.ids() })
  }

  /** Cleans up after jobs that end without an attempt, batch by batch. */
  async #cleanUp(batches: AsyncIterable<string[]>, failure: JobFailure): Promise<void> {
    const { discard, log, metrics, onEvents } = this.#options
    for await (const ended of batches) {
      if (ended.length > 0) onEvents?.()
      for (const jobId of ended) {
        log.warn({ jobId, ...failure }, 'job failed')
        metrics?.jobsEnded.inc({ kind: 'pre-recorded', outcome: outcomeOf(failure) })
        await discard(jobId).catch((err) => log.warn({ err, jobId }, 'cannot remove checkpoints'))
      }
      if (ended.length > 0) this.#notify()
    }
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
