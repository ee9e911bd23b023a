import { addToCount } from '../../numbers.ts'
import { LookupError } from './lookup-error.ts'

/**
 * Maximum running lookups of one account, so that lookups that never end do not block other
 * accounts.
 */
const MAX_PER_ACCOUNT = 16
/** Maximum running lookups of all accounts: each uses one or two sockets. */
const MAX_IN_ALL = 256
/**
 * Maximum waiting lookups of one account; more than its fetches and deliveries can request at
 * once.
 */
const MAX_WAITING = 200

type Waiter = PromiseWithResolvers<void>

/** Limits the running lookups per account and in total; waiting accounts take turns. */
export class LookupScheduler {
  /** Running lookups, by account. */
  readonly #running = new Map<string, number>()
  /** By account, in the order of their turns. */
  readonly #waiting = new Map<string, Set<Waiter>>()
  #total = 0

  /** Number of running lookups. */
  get size(): number {
    return this.#total
  }

  /**
   * Runs `work` when it is the account's turn. Rejects with `EAI_AGAIN` if that takes longer than
   * `timeoutMs`, or if the account has too many waiting lookups.
   */
  async run<T>(account: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
    if (!this.#isFree(account)) await this.#wait(account, timeoutMs)
    else this.#count(account, 1)
    try {
      return await work()
    } finally {
      this.#count(account, -1)
      this.#startWaiting()
    }
  }

  async #wait(account: string, timeoutMs: number): Promise<void> {
    const waiting = this.#waiting.get(account) ?? new Set()
    if (waiting.size >= MAX_WAITING) throw new LookupError('EAI_AGAIN')
    this.#waiting.set(account, waiting)
    const turn: Waiter = Promise.withResolvers()
    waiting.add(turn)
    const timer = setTimeout(() => {
      this.#remove(account, turn)
      turn.reject(new LookupError('EAI_AGAIN'))
    }, timeoutMs)
    await turn.promise.finally(() => clearTimeout(timer))
  }

  /** Starts the next lookup that may run; accounts take turns. */
  #startWaiting(): void {
    for (const [account, waiting] of this.#waiting) {
      if (!this.#isFree(account)) continue
      const [turn] = waiting
      this.#remove(account, turn!)
      // The account moves behind the others.
      if (waiting.size > 0) {
        this.#waiting.delete(account)
        this.#waiting.set(account, waiting)
      }
      this.#count(account, 1)
      turn!.resolve()
      return
    }
  }

  #remove(account: string, turn: Waiter): void {
    const waiting = this.#waiting.get(account)
    waiting?.delete(turn)
    if (waiting?.size === 0) this.#waiting.delete(account)
  }

  #isFree(account: string): boolean {
    return this.#total < MAX_IN_ALL && (this.#running.get(account) ?? 0) < MAX_PER_ACCOUNT
  }

  #count(account: string, change: 1 | -1): void {
    addToCount(this.#running, account, change)
    this.#total += change
  }
}
