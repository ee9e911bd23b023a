/** Bytes of messages that may wait for clients which do not read them. */
export type UnreadLimits = { perSession: number; perAccount: number; perProcess: number }

/** What a message takes besides its text. */
const MESSAGE_BYTES = 200

/** Bytes that a message takes in memory, within a few per cent. */
export function bytesOf({ text }: { text: string }): number {
  return Buffer.byteLength(text) + MESSAGE_BYTES
}

/**
 * Counts what clients have not read, by session, account and in all. When all together have too much, only
 * the accounts are over that have more than their share of it.
 */
export class UnreadMessages {
  readonly #limits: UnreadLimits
  readonly #byAccount = new Map<string, number>()
  #bytes = 0

  constructor(limits: UnreadLimits) {
    this.#limits = limits
  }

  /** What one session of an account has unread. */
  open(account: string): UnreadShare {
    let bytes = 0
    const add = (more: number) => {
      bytes += more
      this.#add(account, more)
    }
    return {
      add,
      isOver: () => bytes > this.#limits.perSession || this.#isOver(account),
      close: () => add(-bytes),
    }
  }

  #add(account: string, more: number): void {
    this.#bytes += more
    const bytes = (this.#byAccount.get(account) ?? 0) + more
    if (bytes > 0) this.#byAccount.set(account, bytes)
    else this.#byAccount.delete(account)
  }

  #isOver(account: string): boolean {
    const { perAccount, perProcess } = this.#limits
    const bytes = this.#byAccount.get(account) ?? 0
    if (bytes > perAccount) return true
    return this.#bytes > perProcess && bytes > perProcess / this.#byAccount.size
  }
}

/** What one session has unread. */
export type UnreadShare = {
  /** So many bytes more, or fewer. */
  add(bytes: number): void
  /** Whether it, or its account, has more than may wait. */
  isOver(): boolean
  /** The session has ended: nothing of it waits any more. */
  close(): void
}

/** Of a session that nobody bounds: tests of single parts. */
export const unbounded: UnreadShare = { add() {}, isOver: () => false, close() {} }
