import { randomUUID } from 'node:crypto'
import { AppError } from '../errors.ts'
import { type ClaimedJob, claimJob } from '../storage/queue.ts'
import {
  failExhaustedJobs,
  failOverdueJobs,
  findActiveJobs,
  findNextDue,
  returnLostJobs,
  returnOrphans,
} from '../storage/queue-upkeep.ts'
import { type AttemptTools, runAttempt, toFailure } from './attempt.ts'
import { LEASE_MS } from './attempt-watch.ts'
import { steadyNow } from './clock.ts'

/** Pause of the queue after the database refused a statement. */
const ERROR_PAUSE_MS = 1000

/** What an attempt is taken to last before the first has ended. */
const FIRST_GUESS_SECONDS = 10
/** The average follows the last ten or so attempts. */
const NEWEST_SHARE = 0.2

/** What the queue loop needs. */
export type RunnerOptions = Omit<AttemptTools, 'stop'> & {
  /** Jobs in hand at the same time. */
  slots: number
  maxPerAccount: number
  /** Seconds a job may wait; 0 = no limit. */
  queueTimeout: number
  /** How long jobs in hand may go on when the server stops. */
  graceMs: number
}

/**
 * Takes jobs from the queue and makes attempts at them. It looks at the queue when it is woken (a job
 * was created, an attempt ended), when a waiting job becomes due, and once per lease at the latest.
 */
export class Runner {
  readonly #options: RunnerOptions
  readonly #owner = randomUUID()
  /** Attempts in hand by the id of their job. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #stop = new AbortController()
  #closing = false
  /** What an attempt takes, on the average. */
  #seconds = FIRST_GUESS_SECONDS
  #loop: Promise<void> = Promise.resolve()
  #woken = Promise.withResolvers<void>()
  #changed = Promise.withResolvers<void>()

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Puts back what an earlier server had in hand, then begins to take jobs. */
  async start(): Promise<void> {
    const { db, log } = this.#options
    const returned = await returnOrphans(db, { now: steadyNow() })
    if (returned > 0) log.info({ returned }, 'jobs of an earlier run go on')
    this.#loop = this.#run()
  }

  /** A job was created: has the queue looked at now, unless nothing could come of it. */
  wake(): void {
    const { slots, queueTimeout } = this.#options
    if (this.#running.size < slots || queueTimeout > 0) this.#woken.resolve()
  }

  /** How long it takes, at the present pace, until the next job is taken from the queue. */
  secondsPerJob(): number {
    return this.#seconds / this.#options.slots
  }

  /** Resolves when no job is waiting or in hand. */
  async idle(): Promise<void> {
    while (!this.#closing) {
      const changed = this.#changed.promise
      const active = await findActiveJobs(this.#options.db)
      if (active.length === 0 && this.#running.size === 0) return
      await changed
    }
  }

  /** Takes no more jobs; those in hand may end within the grace time, then they go back to the queue. */
  async close(): Promise<void> {
    this.#closing = true
    this.#woken.resolve()
    this.#notify()
    await this.#loop
    const running = Promise.all(this.#running.values())
    const stop = () => this.#stop.abort(new AppError('server_stopping'))
    const timer = setTimeout(stop, this.#options.graceMs)
    await running
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    while (!this.#closing) {
      // Renewed before looking: a job that is created while we look wakes us again.
      this.#woken = Promise.withResolvers()
      const pauseMs = await this.#fill().catch((error) => {
        this.#options.log.error({ err: error }, 'cannot read the queue')
        return ERROR_PAUSE_MS
      })
      const timer = setTimeout(() => this.#woken.resolve(), pauseMs)
      await this.#woken.promise
      clearTimeout(timer)
    }
  }

  /** Gives every free slot a job; returns the milliseconds until the queue has to be looked at again. */
  async #fill(): Promise<number> {
    const { db, maxAttempts, maxPerAccount, queueTimeout, slots } = this.#options
    await this.#endHopeless()
    while (this.#running.size < slots && !this.#closing) {
      const now = steadyNow()
      const leaseUntil = now + LEASE_MS
      const claim = { owner: this.#owner, now, leaseUntil, maxAttempts, maxPerAccount }
      const job = await claimJob(db, claim)
      if (!job) break
      this.#begin(job)
    }
    const now = steadyNow()
    const { due = now + LEASE_MS, oldest } = await findNextDue(db, { now })
    const overdue = queueTimeout > 0 && oldest ? oldest + queueTimeout * 1000 + 1 : due
    return Math.min(due - now, Math.max(overdue - now, 0), LEASE_MS)
  }

  #begin(job: ClaimedJob): void {
    const { log } = this.#options
    const begunAt = performance.now()
    const attempt = runAttempt({ ...this.#options, stop: this.#stop.signal }, job)
      .catch((error) => log.error({ err: error, jobId: job.id }, 'cannot write how the job ended'))
      .finally(() => {
        this.#running.delete(job.id)
        const seconds = (performance.now() - begunAt) / 1000
        this.#seconds += (seconds - this.#seconds) * NEWEST_SHARE
        this.#woken.resolve()
        this.#notify()
      })
    this.#running.set(job.id, attempt)
  }

  /** Ends the waiting jobs that no attempt will be made at. */
  async #endHopeless(): Promise<void> {
    const { db, discard, log, maxAttempts, queueTimeout } = this.#options
    const now = steadyNow()
    await returnLostJobs(db, { now, inHand: [...this.#running.keys()] })
    const reason = 'the server went down or stood still whenever the job was in hand'
    const lost = toFailure(new AppError('attempts_exhausted', reason))
    const at = Date.now()
    const ended = await failExhaustedJobs(db, { maxAttempts, failure: lost, at })
    if (queueTimeout > 0) {
      const failure = toFailure(new AppError('queue_timeout', `it waited for ${queueTimeout} s`))
      const since = now - queueTimeout * 1000
      ended.push(...(await failOverdueJobs(db, { since, failure, at })))
    }
    for (const id of ended) {
      await discard(id).catch((error) => log.warn({ err: error }, 'stages not removed'))
    }
    if (ended.length > 0) this.#notify()
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
