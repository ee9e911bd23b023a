import type { ClaimedJob, ClaimOptions } from '../../storage/jobs/queue/claim-job.ts'

/** A fetch is a socket that may wait for minutes: it takes no slot and has its own limit. */
const MAX_FETCHING = 100
/** How many attempts may wait for services without a slot. Each holds its result in memory. */
const MAX_CALLING = 100

/** The assumed working time of an attempt, until the first one has ended. */
const FIRST_GUESS_SECONDS = 10
/** The moving average covers roughly the last ten attempts. */
const NEWEST_SHARE = 0.2

/** Seconds that a short recording lasts at most. */
const SHORT_SECONDS = 30
/**
 * This many short recordings share a slot: each worker recognizes their segments four at a time
 * (`createBatchingRunner`), and as many wait there while others are read and written.
 */
const SHORT_PER_SLOT = 8

/**
 * How many jobs are decoded and recognized at a time, of short recordings some more, and how many
 * an account may have running.
 */
export type Limits = { slots: number; maxPerAccount: number }

/** The slot of one attempt. */
export type JobSlot = {
  /** Waits for a slot; rejects when `signal` aborts. */
  enter(signal: AbortSignal): Promise<void>
  /** States how many seconds of audio were decoded, all channels counted. */
  decoded(seconds: number): void
  /** Frees the slot while the attempt waits for services, unless many attempts do so already. */
  leave(): void
}

type SlotAttempt = {
  account: string
  isShort: boolean
  phase: 'fetching' | 'waiting' | 'working' | 'calling'
  /** When it began to work, by the clock of this process. */
  workingAt: number
  /** Seconds of work before it left its slot. */
  worked: number
  granted: PromiseWithResolvers<void>
  abort: AbortController
  ended: Promise<void>
}

/**
 * The running attempts. One whose recording is not stored here starts as `fetching`. Once fetched,
 * the attempt is `waiting` until a slot is free, and then `working`. One with a stored recording
 * works at once: it was only started because a slot was free. While it waits for services, an
 * attempt is `calling` and holds no slot.
 */
export class JobSlots {
  readonly #limits: Limits
  readonly #onChange: () => void
  /** By job id. */
  readonly #attempts = new Map<string, SlotAttempt>()
  /** The average working time of an attempt, in seconds. */
  #seconds = FIRST_GUESS_SECONDS

  /** Calls `onChange` when an attempt has ended or begins to wait. */
  constructor(limits: Limits, onChange: () => void) {
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
    const isFree = this.#isFree()
    const canFetch = this.#canFetch()
    if (!isFree && !canFetch) return undefined
    return { only: isFree && canFetch ? undefined : isFree ? 'fetched' : 'unfetched' }
  }

  /** Returns whether such a job could start now. */
  hasSlotFor({ account, isFetched }: Pick<ClaimedJob, 'account' | 'isFetched'>): boolean {
    // Called for each new job; most arrive while all slots are taken.
    if (!(isFetched ? this.#isFree() : this.#canFetch())) return false
    const ofAccount = this.#all().filter((attempt) => attempt.account === account)
    return ofAccount.length < this.#limits.maxPerAccount
  }

  /** Starts an attempt, which `run` makes. `signal` aborts when the attempt should end early. */
  start(job: ClaimedJob, run: (slot: JobSlot, signal: AbortSignal) => Promise<void>): void {
    const attempt: SlotAttempt = {
      account: job.account,
      isShort: isShort(job),
      phase: job.isFetched ? 'working' : 'fetching',
      workingAt: performance.now(),
      worked: 0,
      granted: Promise.withResolvers(),
      abort: new AbortController(),
      ended: Promise.resolve(),
    }
    this.#attempts.set(job.id, attempt)
    const slot: JobSlot = {
      enter: (signal) => this.#enter(attempt, signal),
      decoded: (seconds) => this.#decoded(attempt, seconds),
      leave: () => this.#leave(attempt),
    }
    attempt.ended = run(slot, attempt.abort.signal).finally(() => {
      this.#attempts.delete(job.id)
      const current = attempt.phase === 'working' ? secondsSince(attempt.workingAt) : 0
      const seconds = attempt.worked + current
      if (seconds > 0) this.#seconds += (seconds - this.#seconds) * NEWEST_SHARE
      this.#onChange()
    })
  }

  /** Ends all attempts that have not worked yet: they have nothing to lose. */
  abortIdle(reason: Error): void {
    for (const { phase, worked, abort } of this.#attempts.values()) {
      if (phase !== 'working' && worked === 0) abort.abort(reason)
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
    if (!this.#isFree()) return false
    const working = this.#all('working')
    const count = ({ account }: SlotAttempt) =>
      working.filter((one) => one.account === account).length
    const next = this.#all('waiting').toSorted((a, b) => count(a) - count(b))[0]
    if (!next) return false
    next.phase = 'working'
    next.workingAt = performance.now()
    next.granted.resolve()
    return true
  }

  /**
   * Returns the seconds, at the present pace, until the next job of an account gets a slot. The
   * estimate shares the slots equally among this account and those that have some.
   */
  secondsUntilNext(account: string): number {
    const { slots, maxPerAccount } = this.#limits
    const working = this.#all('working')
    const accounts = new Set(working.map((attempt) => attempt.account)).add(account)
    const share = Math.min(Math.max(slots, working.length) / accounts.size, maxPerAccount)
    // If every slot has been busy for longer than usual, so will be the next ones.
    const youngest = Math.max(0, ...working.map(({ workingAt }) => workingAt))
    const busy = !this.#isFree() ? secondsSince(youngest) : 0
    return Math.max(this.#seconds, busy) / share
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
    attempt.worked += secondsSince(attempt.workingAt)
    this.#onChange()
  }

  /** Short recordings leave a slot to a longer one, which is what the next job may have. */
  #isFree(): boolean {
    const { slots } = this.#limits
    const working = this.#all('working')
    const longer = working.filter(({ isShort }) => !isShort)
    return longer.length < slots && working.length < slots * SHORT_PER_SLOT
  }

  /** Fetched attempts that wait for a slot count too: their recordings are on disk. */
  #canFetch(): boolean {
    return this.#all('fetching').length + this.#all('waiting').length < MAX_FETCHING
  }

  #all(phase?: SlotAttempt['phase']): SlotAttempt[] {
    const attempts = [...this.#attempts.values()]
    return phase ? attempts.filter((attempt) => attempt.phase === phase) : attempts
  }
}

/** The length of a recording that was fetched is only known when it is decoded. */
function isShort({ file: { duration, channels } }: Pick<ClaimedJob, 'file'>): boolean {
  return duration !== null && duration * (channels ?? 1) <= SHORT_SECONDS
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000
}
