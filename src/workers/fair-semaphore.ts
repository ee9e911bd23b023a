/** The terms of one piece of work. */
export type Turn = {
  /** The account of the work; accounts take turns. */
  account: string
  signal: AbortSignal
  /**
   * Creates the error to throw instead of waiting when `maxWaiting` of the account wait already;
   * undefined = always wait.
   */
  whenFull?: (() => Error) | undefined
}

/** Runs work when its turn comes; waiting work is removed when it is aborted. */
export type FairSemaphore = <T>(work: () => Promise<T>, turn: Turn) => Promise<T>

/** How much work runs at a time in total and per account, and how much of one account may wait. */
export type SemaphoreLimits = { total: number; perAccount: number; maxWaiting: number }

type Waiting = { begin: () => void }

/**
 * Creates a semaphore for the work of many accounts. A free slot goes to the account that has the
 * fewest of them, then to the one that has waited longest for its turn, so that an account with
 * much work delays only itself.
 */
export function createFairSemaphore({
  total,
  perAccount,
  maxWaiting,
}: SemaphoreLimits): FairSemaphore {
  /** Slots taken by each account. */
  const running = new Map<string, number>()
  /** In the order of arrival; an account that got a slot goes behind the others. */
  const waiting = new Map<string, Waiting[]>()
  let taken = 0

  const takenBy = (account: string) => running.get(account) ?? 0

  function take(account: string): void {
    taken++
    running.set(account, takenBy(account) + 1)
  }

  function leave(account: string): void {
    taken--
    const others = takenBy(account) - 1
    if (others > 0) running.set(account, others)
    else running.delete(account)
    admit()
  }

  /** Gives free slots to waiting work, as long as there are both. */
  function admit(): void {
    while (taken < total) {
      let next: string | undefined
      for (const account of waiting.keys()) {
        if (takenBy(account) >= perAccount) continue
        if (next === undefined || takenBy(account) < takenBy(next)) next = account
      }
      if (next === undefined) return
      const works = waiting.get(next)!
      const { begin } = works.shift()!
      waiting.delete(next)
      if (works.length > 0) waiting.set(next, works)
      take(next)
      begin()
    }
  }

  function enter({ account, signal, whenFull }: Turn): Promise<void> {
    signal.throwIfAborted()
    const works = waiting.get(account) ?? []
    const mayBegin = taken < total && takenBy(account) < perAccount
    if (!mayBegin && whenFull && works.length >= maxWaiting) throw whenFull()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const own: Waiting = {
      begin: () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      },
    }
    const giveUp = () => {
      const left = waiting.get(account)!.filter((other) => other !== own)
      if (left.length > 0) waiting.set(account, left)
      else waiting.delete(account)
      reject(signal.reason)
    }
    works.push(own)
    waiting.set(account, works)
    signal.addEventListener('abort', giveUp, { once: true })
    admit()
    return promise
  }

  return async (work, turn) => {
    await enter(turn)
    try {
      return await work()
    } finally {
      leave(turn.account)
    }
  }
}
