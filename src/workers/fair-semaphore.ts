import { addToCount } from '../numbers.ts'

/** The account and the cancellation of one piece of work. */
export type SlotRequest = {
  /** The account of the work; accounts take turns. */
  account: string
  signal: AbortSignal
  /**
   * Creates the error to throw instead of waiting when `maxWaiting` of the account wait already;
   * undefined = always wait.
   */
  whenFull?: (() => Error) | undefined
}

/** Runs work when a slot is free; waiting work is removed when its signal aborts. */
export type FairSemaphore = <T>(work: () => Promise<T>, request: SlotRequest) => Promise<T>

/**
 * Maximum tasks that run at a time in total and per account, and maximum tasks that may wait per
 * account.
 */
export type SemaphoreLimits = { total: number; perAccount: number; maxWaiting: number }

type Waiter = { begin: () => void }

/**
 * Creates a semaphore for the work of many accounts. A free slot goes to the account that has the
 * fewest of them, then to the one that has waited longest for its turn, so that an account with
 * much work delays only itself.
 */
export function createFairSemaphore(limits: SemaphoreLimits): FairSemaphore {
  const slots = new FairSlots(limits)
  return async (work, request) => {
    await slots.enter(request)
    try {
      return await work()
    } finally {
      slots.leave(request.account)
    }
  }
}

class FairSlots {
  readonly #limits: SemaphoreLimits
  /** Slots taken by each account. */
  readonly #running = new Map<string, number>()
  /**
   * Waiting work by account, in order of arrival; an account that gets a slot moves behind the
   * others.
   */
  readonly #waiting = new Map<string, Waiter[]>()
  #taken = 0

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits
  }

  /** Resolves when the work has a slot. */
  enter({ account, signal, whenFull }: SlotRequest): Promise<void> {
    signal.throwIfAborted()
    const works = this.#waiting.get(account) ?? []
    const mayBegin = this.#taken < this.#limits.total && this.#hasShare(account)
    if (!mayBegin && whenFull && works.length >= this.#limits.maxWaiting) throw whenFull()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = {
      begin: () => {
        signal.removeEventListener('abort', cancel)
        resolve()
      },
    }
    const cancel = () => {
      this.#setWaiting(
        account,
        this.#waiting.get(account)!.filter((otherWaiter) => otherWaiter !== waiter),
      )
      reject(signal.reason)
    }
    works.push(waiter)
    this.#waiting.set(account, works)
    signal.addEventListener('abort', cancel, { once: true })
    this.#startWaiting()
    return promise
  }

  leave(account: string): void {
    this.#taken--
    addToCount(this.#running, account, -1)
    this.#startWaiting()
  }

  /** Gives free slots to waiting work, as long as there are both. */
  #startWaiting(): void {
    while (this.#taken < this.#limits.total) {
      const next = this.#next()
      if (next === undefined) return
      const works = this.#waiting.get(next)!
      const { begin } = works.shift()!
      this.#waiting.delete(next)
      this.#setWaiting(next, works)
      this.#taken++
      addToCount(this.#running, next, 1)
      begin()
    }
  }

  /** Returns the account whose turn it is; undefined when none may have another slot. */
  #next(): string | undefined {
    let next: string | undefined
    for (const account of this.#waiting.keys()) {
      if (!this.#hasShare(account)) continue
      if (next === undefined || this.#takenBy(account) < this.#takenBy(next)) next = account
    }
    return next
  }

  #takenBy(account: string): number {
    return this.#running.get(account) ?? 0
  }

  #hasShare(account: string): boolean {
    return this.#takenBy(account) < this.#limits.perAccount
  }

  #setWaiting(account: string, works: Waiter[]): void {
    if (works.length > 0) this.#waiting.set(account, works)
    else this.#waiting.delete(account)
  }
}
