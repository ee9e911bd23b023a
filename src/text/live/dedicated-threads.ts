import type { TextThread } from './text-thread.ts'

/**
 * Maximum threads of an account. A thread takes 90 MB, and as much again with a large vocabulary.
 */
const MAX_PER_ACCOUNT = 2

type DedicatedThread = { thread: TextThread; sessions: number }

/**
 * The threads of accounts whose sessions must not delay others. An account has at most two threads,
 * which its sessions share. A thread is closed when its last session ends.
 */
export class DedicatedThreads {
  readonly #byAccount = new Map<string, DedicatedThread[]>()
  readonly #create: () => TextThread
  readonly #end: (thread: TextThread) => Promise<void>

  constructor(options: { create: () => TextThread; end: (thread: TextThread) => Promise<void> }) {
    this.#create = options.create
    this.#end = options.end
  }

  /** Returns all threads. */
  get threads(): TextThread[] {
    return [...this.#byAccount.values()].flat().map(({ thread }) => thread)
  }

  /** Returns a thread for one more session of the account. */
  take(account: string): TextThread {
    const all = this.#byAccount.get(account) ?? []
    this.#byAccount.set(account, all)
    if (all.length < MAX_PER_ACCOUNT) all.push({ thread: this.#create(), sessions: 0 })
    const leastBusy = all.reduce((min, dedicated) =>
      dedicated.sessions < min.sessions ? dedicated : min,
    )
    leastBusy.sessions++
    return leastBusy.thread
  }

  /** Releases a session's thread, and closes it when no other session uses it. */
  async release(account: string, thread: TextThread): Promise<void> {
    const all = this.#byAccount.get(account) ?? []
    const used = all.find((dedicated) => dedicated.thread === thread)
    if (!used || --used.sessions > 0) return
    const otherThreads = all.filter((dedicated) => dedicated !== used)
    if (otherThreads.length > 0) this.#byAccount.set(account, otherThreads)
    else this.#byAccount.delete(account)
    await this.#end(thread)
  }
}
