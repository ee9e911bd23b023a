import { bytesOf, type UnreadShare, unbounded } from './messages/unread-bytes.ts'

/** A message on its way to the client. */
export type Outgoing = {
  text: string
  /** Counts the messages that must arrive, from 1; absent on partials and acknowledgements. */
  number?: number
  /** May be left out for a client that does not keep up. */
  isPartial?: boolean
  /** Comes at the end, when waiting for a slow client harms nobody. */
  isLast?: boolean
}

/** With so many bytes waiting, partials are left out. */
const BUSY_BYTES = 256 * 1024
/** With so many bytes waiting the client does not read (contract 5.11). */
const MAX_WAITING_BYTES = 8 * 1024 * 1024

/** What a connection is told of its client. */
export type ConnectionHandlers = {
  /** Whose session it is. */
  account?: string | undefined
  /** Where what it does not read is counted; messages that must arrive are counted by who made them. */
  unread?: UnreadShare | undefined
  /** Whether the session had a connection before. */
  isResumed: boolean
  onFrame(data: Uint8Array, isBinary: boolean): void
  /** The client has every message up to this number. */
  onSeen(number: number): void
  /** The connection is gone; `code` is that of who ended it. */
  onLost(code: number): void
  /** Resolves when more frames may be read; undefined when that is now. */
  room(): Promise<void> | undefined
}

/**
 * One client of a session, from the side of the session: messages are pushed, and whoever holds the
 * socket takes them out with `messages` and hands in what arrives. It ends with `closeCode`.
 */
export class Connection {
  readonly #handlers: ConnectionHandlers
  /** What the client missed, which comes first and may be as long as it is; then what is new. */
  #brought: Outgoing[] = []
  #waiting: Outgoing[] = []
  #bytes = 0
  /** Messages that must arrive and were not confirmed. */
  #unseen: Outgoing[] = []
  #wake: (() => void) | undefined
  #closeCode: number | undefined

  constructor(handlers: ConnectionHandlers) {
    this.#handlers = handlers
  }

  /** Why the server ends the connection; undefined while it does not. */
  get closeCode(): number | undefined {
    return this.#closeCode
  }

  /** Whose session it is: accounts take turns. */
  get account(): string {
    return this.#handlers.account ?? ''
  }

  /** Whether the session had a connection before: then the first frame may hold all that the client kept. */
  get isResumed(): boolean {
    return this.#handlers.isResumed
  }

  /** A frame of the client; see `room` before the next one is read. */
  receive(data: Uint8Array, isBinary: boolean): void {
    if (this.#closeCode === undefined) this.#handlers.onFrame(data, isBinary)
  }

  room(): Promise<void> | undefined {
    return this.#handlers.room()
  }

  /** The client answered to something that was sent after the message with this number. */
  seen(number: number): void {
    const { unread = unbounded } = this.#handlers
    // In order of their numbers.
    let seen = 0
    for (const message of this.#unseen) {
      if (message.number! > number) break
      unread.add(-bytesOf(message))
      seen++
    }
    this.#unseen.splice(0, seen)
    this.#handlers.onSeen(number)
  }

  /** The socket is gone; `code` is the client's, which tells nothing when the server ended it. */
  lost(code: number): void {
    const reason = this.#closeCode ?? code
    this.#dropWaiting()
    this.end(code)
    this.#handlers.onLost(reason)
  }

  /** Hands over what the client missed while it was away. */
  bring(messages: readonly Outgoing[]): void {
    this.#unseen.push(...messages)
    this.#brought.push(...messages)
    this.#wake?.()
  }

  push(message: Outgoing): void {
    // Also when it has ended: until the socket is gone, nobody else takes what must arrive.
    if (message.number !== undefined) this.#unseen.push(message)
    if (this.#closeCode !== undefined) return
    if (message.isPartial && this.#bytes > BUSY_BYTES) return
    const { unread = unbounded } = this.#handlers
    const isOver = this.#bytes > MAX_WAITING_BYTES || unread.isOver()
    if (isOver && !message.isLast) {
      this.#dropWaiting()
      this.end(1013)
      return
    }
    this.#waiting.push(message)
    this.#bytes += bytesOf(message)
    if (message.number === undefined) unread.add(bytesOf(message))
    this.#wake?.()
  }

  /** Ends the connection with `code`, once what waits has been taken. */
  end(code: number): void {
    this.#closeCode ??= code
    this.#wake?.()
  }

  /** What waits is not sent any more. */
  #dropWaiting(): void {
    for (const message of this.#waiting.splice(0)) this.#taken(message)
    this.#brought = []
  }

  #taken(message: Outgoing): void {
    const { unread = unbounded } = this.#handlers
    this.#bytes -= bytesOf(message)
    if (message.number === undefined) unread.add(-bytesOf(message))
  }

  /** Messages that the client may not have, for its next connection. */
  takeUnseen(): Outgoing[] {
    const unseen = this.#unseen
    this.#unseen = []
    return unseen
  }

  /** Messages in order, until the connection ends. */
  async *messages(): AsyncGenerator<Outgoing> {
    for (;;) {
      const brought = this.#brought.shift()
      const message = brought ?? this.#waiting.shift()
      if (message) {
        if (!brought) this.#taken(message)
        yield message
      } else if (this.#closeCode !== undefined) {
        return
      } else {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#wake = resolve
        await promise
      }
    }
  }
}
