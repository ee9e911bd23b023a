import { randomUUID } from 'node:crypto'
import { AppError } from '../errors.ts'
import { type ClaimedJob, type ClaimOptions, claimJob } from '../storage/queue.ts'
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

/** A fetch is a socket that may wait for minutes: it takes none of the slots, and has a bound of its own. */
const MAX_FETCHING = 100

/** What the queue loop needs. */
export type RunnerOptions = Omit<AttemptTools, 'stop' | 'enter'> & {
  /** Jobs that are decoded and recognised at the same time. */
  slots: number
  maxPerAccount: number
  /** Seconds a job may wait; 0 = no limit. */
  queueTimeout: number
  /** How long jobs in hand may go on when the server stops. */
  graceMs: number
}

/** An attempt in hand: it fetches, waits until a slot is free, and works. */
type Running = {
  account: string
  begunAt: number
  phase: 'fetching' | 'waiting' | 'working'
  /** Ends the waiting. */
  admit: () => void
  ended: Promise<void>
}

/**
 * Takes jobs from the queue and makes attempts at them. It looks at the queue when it is woken (a job
 * was created, an attempt ended), when a waiting job becomes due, and once per lease at the latest.
 */
export class Runner {
  readonly #options: RunnerOptions
  readonly #owner = randomUUID()
  /** Attempts in hand by the id of their job. */
  readonly #running = new Map<string, Running>()
  readonly #stop = new AbortController()
  #closing = false
  /** Whether the next free slot goes to an attempt that has fetched, before a job of the queue. */
  #isWaitersTurn = true
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
  wake({ account, isFetched }: { account: string; isFetched: boolean }): void {
    const { maxPerAccount, slots, queueTimeout } = this.#options
    const own = [...this.#running.values()].filter((attempt) => attempt.account === account)
    const isRoom = isFetched
      ? this.#count('working') < slots
      : this.#count('fetching') < MAX_FETCHING
    if ((isRoom && own.length < maxPerAccount) || queueTimeout > 0) this.#woken.resolve()
  }

  /**
   * How long it takes, at the present pace, until the next job of an account is taken from the queue:
   * its share of the slots is that of the others who have jobs in hand.
   */
  secondsUntilNext(account: string): number {
    const { slots, maxPerAccount } = this.#options
    const running = [...this.#running.values()].filter(({ phase }) => phase === 'working')
    const accounts = new Set(running.map((attempt) => attempt.account)).add(account)
    const share = Math.min(slots / accounts.size, maxPerAccount)
    // When every slot has been busy for longer than usual, so will be the next ones.
    const youngest = Math.max(0, ...running.map(({ begunAt }) => begunAt))
    const busy = running.length === slots ? secondsSince(youngest) : 0
    return Math.max(this.#seconds, busy) / share
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
    const running = Promise.all([...this.#running.values()].map(({ ended }) => ended))
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
    const { db, queueTimeout } = this.#options
    await this.#endHopeless()
    while (
      !this.#closing &&
      ((this.#isWaitersTurn && this.#admitOne()) || (await this.#takeOne()))
    ) {
      // Goes on until nothing is free, or nothing is there.
    }
    while (!this.#closing && this.#admitOne()) {
      // The queue had nothing for the slots that are left.
    }
    const now = steadyNow()
    const { due = now + LEASE_MS, oldest } = await findNextDue(db, { now })
    const overdue = queueTimeout > 0 && oldest ? oldest + queueTimeout * 1000 + 1 : due
    return Math.min(due - now, Math.max(overdue - now, 0), LEASE_MS)
  }

  /** Begins the next job of the queue for which there is room; false when there is none. */
  async #takeOne(): Promise<boolean> {
    const { db, maxAttempts, maxPerAccount, slots } = this.#options
    const isFree = this.#count('working') < slots
    const canFetch = this.#count('fetching') < MAX_FETCHING
    if (!isFree && !canFetch) return false
    const only: ClaimOptions['only'] =
      isFree && canFetch ? undefined : isFree ? 'fetched' : 'unfetched'
    const now = steadyNow()
    const leaseUntil = now + LEASE_MS
    const claim = { owner: this.#owner, now, leaseUntil, maxAttempts, maxPerAccount, only }
    const job = await claimJob(db, claim)
    if (!job) return false
    this.#begin(job)
    if (job.isFetched) this.#isWaitersTurn = true
    return true
  }

  /** Gives a free slot to an attempt that has fetched, of the account that has the fewest; false when there is none. */
  #admitOne(): boolean {
    if (this.#count('working') >= this.#options.slots) return false
    const attempts = [...this.#running.values()]
    const working = ({ account }: Running) =>
      attempts.filter((other) => other.phase === 'working' && other.account === account).length
    const waiting = attempts.filter(({ phase }) => phase === 'waiting')
    const next = waiting.toSorted((a, b) => working(a) - working(b))[0]
    if (!next) return false
    next.phase = 'working'
    next.admit()
    this.#isWaitersTurn = false
    return true
  }

  #count(phase: Running['phase']): number {
    let count = 0
    for (const attempt of this.#running.values()) if (attempt.phase === phase) count++
    return count
  }

  #begin(job: ClaimedJob): void {
    const { log } = this.#options
    const begunAt = performance.now()
    const admitted = Promise.withResolvers<void>()
    const enter = async (signal: AbortSignal) => {
      if (attempt.phase === 'working') return
      signal.throwIfAborted()
      attempt.phase = 'waiting'
      this.#woken.resolve()
      const stop = () => admitted.reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      await admitted.promise.finally(() => signal.removeEventListener('abort', stop))
    }
    const ended = runAttempt({ ...this.#options, enter, stop: this.#stop.signal }, job)
      .catch((error) => log.error({ err: error, jobId: job.id }, 'cannot write how the job ended'))
      .finally(() => {
        this.#running.delete(job.id)
        this.#seconds += (secondsSince(begunAt) - this.#seconds) * NEWEST_SHARE
        this.#woken.resolve()
        this.#notify()
      })
    const phase = job.isFetched ? 'working' : 'fetching'
    const attempt: Running = {
      account: job.account,
      begunAt,
      phase,
      admit: admitted.resolve,
      ended,
    }
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

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000
}
