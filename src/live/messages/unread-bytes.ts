import { addToCount } from '../../numbers.ts'

/** Maximum bytes of messages that may wait for clients which do not read them. */
export type UnreadLimits = { perSession: number; perAccount: number; perProcess: number }

/** Limits of an account and of a process, as multiples of the limit of one session. */
const SESSIONS_PER_ACCOUNT = 4
const SESSIONS_PER_PROCESS = 16

/** Memory of a message besides its text. */
const MESSAGE_BYTES = 200

/** Returns the limits for a process whose sessions may each hold `perSession` bytes. */
export function unreadLimits(perSession: number): UnreadLimits {
  const perAccount = perSession * SESSIONS_PER_ACCOUNT
  return { perSession, perAccount, perProcess: perSession * SESSIONS_PER_PROCESS }
}

/** Returns the bytes that a message takes in memory, within a few percent. */
export function messageMemory({ text }: { text: string }): number {
  return Buffer.byteLength(text) + MESSAGE_BYTES
}

/**
 * Counts the bytes that clients have not read, by session, by account and in total. When the total
 * is too high, only accounts that exceed their share of it are over the limit.
 */
export class UnreadBytes {
  readonly #limits: UnreadLimits
  readonly #byAccount = new Map<string, number>()
  #bytes = 0

  constructor(limits: UnreadLimits) {
    this.#limits = limits
  }

  /** Opens the count of one session of an account. */
  open(account: string): SessionUnreadBytes {
    let bytes = 0
    const add = (delta: number) => {
      bytes += delta
      this.#add(account, delta)
    }
    return {
      add,
      isOver: () => bytes > this.#limits.perSession || this.#isOver(account),
      close: () => add(-bytes),
    }
  }

  #add(account: string, delta: number): void {
    this.#bytes += delta
    addToCount(this.#byAccount, account, delta)
  }

  #isOver(account: string): boolean {
    const { perAccount, perProcess } = this.#limits
    const bytes = this.#byAccount.get(account) ?? 0
    if (bytes > perAccount) return true
    return this.#bytes > perProcess && bytes > perProcess / this.#byAccount.size
  }
}

/** The unread bytes of one session. */
export type SessionUnreadBytes = {
  /** Adds this many bytes; negative to subtract. */
  add(bytes: number): void
  /** Returns whether the session, or its account, exceeds its limit. */
  isOver(): boolean
  /** Ends the count: the session has ended, and nothing of it waits any more. */
  close(): void
}

/** A count without limits, for tests. */
export const unbounded: SessionUnreadBytes = { add() {}, isOver: () => false, close() {} }
