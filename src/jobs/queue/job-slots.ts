import { secondsSince } from '../../clock.ts'
import type { ClaimedJob, ClaimOptions } from '../../storage/jobs/queue/claim-job.ts'
import { LeaseLostError } from './lease-heartbeat.ts'

/**
 * Maximum concurrent fetches. A fetch is a socket that may wait for minutes: it takes no slot and
 * has its own limit.
 */
const MAX_FETCHING = 100
/** Maximum attempts that wait for services without a slot. Each holds its result in memory. */
const MAX_CALLING = 100

/** The assumed working time of an attempt, until the first one has ended. */
const FIRST_GUESS_SECONDS = 10
/** The moving average covers roughly the last ten attempts. */
const NEWEST_SHARE = 0.2

/** The maximum seconds of a short recording. */
const SHORT_SECONDS = 30
/**
 * This many short recordings share a slot: each worker recognizes their segments in batches of four
 * (`createBatchingRunner`), while as many other recordings are read and written.
 */
const SHORT_PER_SLOT = 8

/**
 * Maximum jobs that are decoded and recognized at a time (of short recordings, `SHORT_PER_SLOT`
 * times as many), and maximum running jobs of an account.
 */
export type SlotLimits = { slots: number; maxPerAccount: number }

/** The slot of one attempt. */
export type JobSlot = {
  /** Waits for a slot; rejects when `signal` aborts. */
  enter(signal: AbortSignal): Promise<void>
  /** Reports the seconds of decoded audio, summed over all channels. */
  decoded(seconds: number): void
  /** Frees the slot while the attempt waits for services, unless many attempts do so already. */
  leave(): void
}

type SlotAttempt = {
  account: string
  isShort: boolean
  phase: 'fetching' | 'waiting' | 'working' | 'calling'
  /** When it began to work, on the clock of `performance.now()`. */
  workingAt: number
  /** Seconds of work before it left its slot. */
  workedSeconds: number
  granted: PromiseWithResolvers<void>
  abort: AbortController
  ended: Promise<void>
}

/**
 * The running attempts. An attempt whose recording is not stored here starts as `fetching`. Once
 * fetched, it is `waiting` until a slot is free, and then `working`. An attempt with a stored
 * recording is `working` at once: it was only started because a slot was free. While it waits for
 * services, an attempt is `calling` and holds no slot.
 */
export class JobSlots {
  readonly #limits: SlotLimits
  readonly #onChange: () => void
  /** The attempts by job id. */
  readonly #attempts = new Map<string, SlotAttempt>()
  /** The average working time of an attempt, in seconds. */
  #meanSeconds = FIRST_GUESS_SECONDS

  /** Calls `onChange` when an attempt has ended or begins to wait. */
  constructor(limits: SlotLimits, onChange: () => void) {
    this.#limits = limits
    this.#onChange = onChange
  }

  get size(): number {
    return this.#attempts.size
  }

  /** Returns the ids of all running jobs. */
  ids(): string[] {
    return [...this.#attempts.keys()]
  }

  /** Resolves when all attempts that are running now have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#attempts.values()].map(({ ended }) => ended))
  }

  /** Returns which jobs could start now; undefined if none could. */
  findStartable(): { only: ClaimOptions['only'] } | undefined {
    const isSlotFree = this.#isSlotFree()
    const canFetch = this.#canFetch()
    if (!isSlotFree && !canFetch) return undefined
    return { only: isSlotFree && canFetch ? undefined : isSlotFree ? 'stored' : 'remote' }
  }

  /** Returns whether such a job could start now. */
  hasSlotFor({ account, hasRecording }: Pick<ClaimedJob, 'account' | 'hasRecording'>): boolean {
    // Checks the slots first: this is called for each new job, and most arrive while all slots are
    // taken.
    if (!(hasRecording ? this.#isSlotFree() : this.#canFetch())) return false
    const ofAccount = this.#all().filter((attempt) => attempt.account === account)
    return ofAccount.length < this.#limits.maxPerAccount
  }

  /**
   * Starts an attempt, which `run` makes. `signal` aborts when the attempt should end early. If an
   * earlier attempt at the job is running, it has lost its lease without noticing yet: it ends
   * first, because both use the same checkpoints.
   */
  start(job: ClaimedJob, run: (slot: JobSlot, signal: AbortSignal) => Promise<void>): void {
    const attempt: SlotAttempt = {
      account: job.account,
      isShort: isShort(job),
      phase: job.hasRecording ? 'working' : 'fetching',
      workingAt: performance.now(),
      workedSeconds: 0,
      granted: Promise.withResolvers(),
      abort: new AbortController(),
      ended: Promise.resolve(),
    }
    const earlier = this.#attempts.get(job.id)
    earlier?.abort.abort(new LeaseLostError())
    this.#attempts.set(job.id, attempt)
    const slot: JobSlot = {
      enter: (signal) => this.#enter(attempt, signal),
      decoded: (seconds) => this.#decoded(attempt, seconds),
      leave: () => this.#leave(attempt),
    }
    const begin = () => run(slot, attempt.abort.signal)
    attempt.ended = (earlier ? earlier.ended.then(begin) : begin()).finally(() => {
      if (this.#attempts.get(job.id) === attempt) this.#attempts.delete(job.id)
      const current = attempt.phase === 'working' ? secondsSince(attempt.workingAt) : 0
      const seconds = attempt.workedSeconds + current
      if (seconds > 0) this.#meanSeconds += (seconds - this.#meanSeconds) * NEWEST_SHARE
      this.#onChange()
    })
  }

  /** Ends all attempts that have not worked yet, so that no work is lost. */
  abortIdle(reason: Error): void {
    for (const { phase, workedSeconds, abort } of this.#attempts.values()) {
      if (phase !== 'working' && workedSeconds === 0) abort.abort(reason)
    }
  }

  /** Ends the attempt at a job, if there is one. */
  abort(jobId: string, reason: Error): void {
    this.#attempts.get(jobId)?.abort.abort(reason)
  }

  /**
   * Gives a free slot to a waiting attempt, of the account with the fewest working attempts.
   * Returns false if there is no free slot or no waiting attempt.
   */
  grantSlot(): boolean {
    if (!this.#isSlotFree()) return false
    const working = this.#all('working')
    const count = ({ account }: SlotAttempt) =>
      working.filter((attempt) => attempt.account === account).length
    const next = this.#all('waiting').toSorted((a, b) => count(a) - count(b))[0]
    if (!next) return false
    next.phase = 'working'
    next.workingAt = performance.now()
    next.granted.resolve()
    return true
  }

  /**
   * Returns the estimated seconds until the next job of an account gets a slot. The estimate
   * divides the slots equally among this account and those that hold some.
   */
  secondsUntilNext(account: string): number {
    const { slots, maxPerAccount } = this.#limits
    const working = this.#all('working')
    const accounts = new Set(working.map((attempt) => attempt.account)).add(account)
    const share = Math.min(Math.max(slots, working.length) / accounts.size, maxPerAccount)
    // If every slot has been busy for longer than usual, the next jobs are expected to take as
    // long.
    const newestStart = Math.max(0, ...working.map(({ workingAt }) => workingAt))
    const busySeconds = !this.#isSlotFree() ? secondsSince(newestStart) : 0
    return Math.max(this.#meanSeconds, busySeconds) / share
  }

  async #enter(attempt: SlotAttempt, signal: AbortSignal): Promise<void> {
    if (attempt.phase === 'working') return
    signal.throwIfAborted()
    attempt.phase = 'waiting'
    attempt.granted = Promise.withResolvers()
    this.#onChange()
    const stop = () => attempt.granted.reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    await attempt.granted.promise.finally(() => signal.removeEventListener('abort', stop))
  }

  #decoded(attempt: SlotAttempt, seconds: number): void {
    attempt.isShort = seconds <= SHORT_SECONDS
    this.#onChange()
  }

  #leave(attempt: SlotAttempt): void {
    if (attempt.phase !== 'working' || this.#all('calling').length >= MAX_CALLING) return
    attempt.phase = 'calling'
    attempt.workedSeconds += secondsSince(attempt.workingAt)
    this.#onChange()
  }

  /**
   * Returns whether a slot is free. Short recordings do not keep a longer one from a slot, since
   * the next job may be longer.
   */
  #isSlotFree(): boolean {
    const { slots } = this.#limits
    const working = this.#all('working')
    const longer = working.filter(({ isShort }) => !isShort)
    return longer.length < slots && working.length < slots * SHORT_PER_SLOT
  }

  /**
   * Returns whether another fetch may start. Fetched attempts that wait for a slot count too: their
   * recordings are on disk.
   */
  #canFetch(): boolean {
    return this.#all('fetching').length + this.#all('waiting').length < MAX_FETCHING
  }

  #all(phase?: SlotAttempt['phase']): SlotAttempt[] {
    const attempts = [...this.#attempts.values()]
    return phase ? attempts.filter((attempt) => attempt.phase === phase) : attempts
  }
}

/**
 * Returns whether a job is short. The length of a fetched recording is known only after decoding.
 */
function isShort({ file: { duration, channels } }: Pick<ClaimedJob, 'file'>): boolean {
  return duration !== null && duration * (channels ?? 1) <= SHORT_SECONDS
}
