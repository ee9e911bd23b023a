/**
 * What accounts have to do: one piece of each is in hand at a time, and accounts take turns. So an account that
 * brings much waits for itself, and others wait for one piece of it at most.
 */
export class AccountTurns<T> {
  /** In the order of turns. */
  readonly #waiting = new Map<string, T[]>()
  readonly #inHand = new Set<string>()

  add(account: string, work: T): void {
    const before = this.#waiting.get(account)
    if (before) before.push(work)
    else this.#waiting.set(account, [work])
  }

  /** Whether there is something to take. */
  isWaiting(): boolean {
    return this.#next() !== undefined
  }

  /**
   * Takes the oldest work of the account whose turn it is, of those that `may` have one; `end` has to be called
   * when it is done.
   */
  take(may: (account: string) => boolean = () => true): { account: string; work: T } | undefined {
    const next = this.#next(may)
    if (!next) return undefined
    const [account, works] = next
    const work = works.shift()!
    if (works.length === 0) this.#waiting.delete(account)
    this.#inHand.add(account)
    return { account, work }
  }

  /** The work of an account is done: the others come before its next one. */
  end(account: string): void {
    this.#inHand.delete(account)
    const rest = this.#waiting.get(account)
    if (!rest) return
    this.#waiting.delete(account)
    this.#waiting.set(account, rest)
  }

  #next(may = (_account: string) => true): [account: string, works: T[]] | undefined {
    for (const entry of this.#waiting) {
      if (!this.#inHand.has(entry[0]) && may(entry[0])) return entry
    }
    return undefined
  }
}
