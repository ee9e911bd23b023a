/**
 * A queue of work by account: each account has one task running at a time, and accounts take turns.
 * An account with much work waits for itself, and others wait for at most one of its tasks.
 */
export class AccountScheduler<T> {
  /** In the order of turns. */
  readonly #waiting = new Map<string, T[]>()
  readonly #running = new Set<string>()

  add(account: string, work: T): void {
    const before = this.#waiting.get(account)
    if (before) before.push(work)
    else this.#waiting.set(account, [work])
  }

  /** Returns whether there is work to take. */
  isWaiting(): boolean {
    return this.#next() !== undefined
  }

  /**
   * Removes and returns the oldest task of the next account for which `may` holds. The caller must
   * call `end` when the task is done.
   */
  take(may: (account: string) => boolean = () => true): { account: string; work: T } | undefined {
    const next = this.#next(may)
    if (!next) return undefined
    const [account, works] = next
    const work = works.shift()!
    if (works.length === 0) this.#waiting.delete(account)
    this.#running.add(account)
    return { account, work }
  }

  /** Marks the running task of an account as done. The other accounts come before its next task. */
  end(account: string): void {
    this.#running.delete(account)
    const waitingTasks = this.#waiting.get(account)
    if (!waitingTasks) return
    this.#waiting.delete(account)
    this.#waiting.set(account, waitingTasks)
  }

  #next(may = (_account: string) => true): [account: string, works: T[]] | undefined {
    for (const entry of this.#waiting) {
      if (!this.#running.has(entry[0]) && may(entry[0])) return entry
    }
    return undefined
  }
}
