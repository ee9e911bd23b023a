import type { ClaimedJob, ClaimOptions } from '../storage/jobs/queue.ts'

/** A fetch is a socket that may wait for minutes: it takes no slot, and has a bound of its own. */
const MAX_FETCHING = 100

/** What an attempt is taken to work before the first has ended. */
const FIRST_GUESS_SECONDS = 10
/** The average follows the last ten or so attempts. */
const NEWEST_SHARE = 0.2

/** How many jobs are decoded and recognised at the same time, and how many an account may have in hand. */
export type Limits = { slots: number; maxPerAccount: number }

/** Waits until an attempt may do more than fetch; rejects when `signal` aborts. */
export type AcquireSlot = (signal: AbortSignal) => Promise<void>

type Attempt = {
  account: string
  phase: 'fetching' | 'waiting' | 'working'
  /** When it began to work, by the clock of this process. */
  workingAt: number
  admitted: PromiseWithResolvers<void>
  dismissed: AbortController
  ended: Promise<void>
}

/**
 * The attempts in hand. One whose recording lies elsewhere begins `fetching`; when it has come, the
 * attempt is `waiting` until a slot is free, and then `working`. One whose recording is here works at
 * once, for it was only begun because a slot was free.
 */
export class JobSlots {
  readonly #limits: Limits
  readonly #onChange: () => void
  /** By the id of their job. */
  readonly #attempts = new Map<string, Attempt>()
  /** What an attempt works, on the average. */
  #seconds = FIRST_GUESS_SECONDS

  /** `onChange` is called when an attempt has ended or begun to wait. */
  constructor(limits: Limits, onChange: () => void) {
    this.#limits = limits
    this.#onChange = onChange
  }

  get size(): number {
    return this.#attempts.size
  }

  /** The ids of all jobs in hand. */
  ids(): string[] {
    return [...this.#attempts.keys()]
  }

  /** Resolves when all that are in hand now have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.#attempts.values()].map(({ ended }) => ended))
  }

  /** Which jobs could be begun now; undefined when none could. */
  room(): { only: ClaimOptions['only'] } | undefined {
    const isFree = this.#isFree()
    const canFetch = this.#canFetch()
    if (!isFree && !canFetch) return undefined
    return { only: isFree && canFetch ? undefined : isFree ? 'fetched' : 'unfetched' }
  }

  /** Whether such a job could be begun now. */
  hasSlotFor({ account, isFetched }: Pick<ClaimedJob, 'account' | 'isFetched'>): boolean {
    const own = this.#all().filter((attempt) => attempt.account === account)
    const isRoom = isFetched ? this.#isFree() : this.#canFetch()
    return isRoom && own.length < this.#limits.maxPerAccount
  }

  /** Begins an attempt, which `run` makes, until the signal that it is given tells that it may end. */
  begin(job: ClaimedJob, run: (enter: AcquireSlot, dismissed: AbortSignal) => Promise<void>): void {
    const attempt: Attempt = {
      account: job.account,
      phase: job.isFetched ? 'working' : 'fetching',
      workingAt: performance.now(),
      admitted: Promise.withResolvers(),
      dismissed: new AbortController(),
      ended: Promise.resolve(),
    }
    this.#attempts.set(job.id, attempt)
    const enter = (signal: AbortSignal) => this.#enter(attempt, signal)
    attempt.ended = run(enter, attempt.dismissed.signal).finally(() => {
      this.#attempts.delete(job.id)
      if (attempt.phase === 'working') {
        this.#seconds += (secondsSince(attempt.workingAt) - this.#seconds) * NEWEST_SHARE
      }
      this.#onChange()
    })
  }

  /** Tells all that do not work yet to end: they have nothing that would be lost. */
  dismiss(reason: Error): void {
    for (const { phase, dismissed } of this.#attempts.values()) {
      if (phase !== 'working') dismissed.abort(reason)
    }
  }

  /** Gives a free slot to a waiting attempt, of the account that has the fewest; false when there is none. */
  admitOne(): boolean {
    if (!this.#isFree()) return false
    const working = this.#all('working')
    const count = ({ account }: Attempt) => working.filter((one) => one.account === account).length
    const next = this.#all('waiting').toSorted((a, b) => count(a) - count(b))[0]
    if (!next) return false
    next.phase = 'working'
    next.workingAt = performance.now()
    next.admitted.resolve()
    return true
  }

  /**
   * How long it takes, at the present pace, until the next job of an account gets a slot: its share of
   * them is that of the others who have some.
   */
  secondsUntilNext(account: string): number {
    const { slots, maxPerAccount } = this.#limits
    const working = this.#all('working')
    const accounts = new Set(working.map((attempt) => attempt.account)).add(account)
    const share = Math.min(slots / accounts.size, maxPerAccount)
    // When every slot has been busy for longer than usual, so will be the next ones.
    const youngest = Math.max(0, ...working.map(({ workingAt }) => workingAt))
    const busy = working.length === slots ? secondsSince(youngest) : 0
    return Math.max(this.#seconds, busy) / share
  }

  async #enter(attempt: Attempt, signal: AbortSignal): Promise<void> {
    if (attempt.phase === 'working') return
    signal.throwIfAborted()
    attempt.phase = 'waiting'
    this.#onChange()
    const stop = () => attempt.admitted.reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    await attempt.admitted.promise.finally(() => signal.removeEventListener('abort', stop))
  }

  #isFree(): boolean {
    return this.#all('working').length < this.#limits.slots
  }

  /** What was fetched and waits counts too: it lies on the disk. */
  #canFetch(): boolean {
    return this.#attempts.size - this.#all('working').length < MAX_FETCHING
  }

  #all(phase?: Attempt['phase']): Attempt[] {
    const attempts = [...this.#attempts.values()]
    return phase ? attempts.filter((attempt) => attempt.phase === phase) : attempts
  }
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000
}
