import { messageMemory, type SessionUnreadBytes, unbounded } from '../messages/unread-bytes.ts'
import { ABNORMAL_CLOSURE, closeCodes, isSessionEnd } from './close-codes.ts'

/** A message on its way to the client. */
export type OutgoingMessage = {
  text: string
  /** The number of a message that must arrive, from 1; absent on partials and acknowledgments. */
  sequence?: number
  /** May be dropped for a client that does not keep up. */
  isPartial?: boolean
  /**
   * One of the last messages of the session. A slow client does not lose it: the audio is complete,
   * so that waiting does no harm.
   */
  isClosing?: boolean
}

/**
 * Options of a connecting client. `offset` is the session byte that it sends next; undefined if the
 * client does not state it.
 */
export type ConnectOptions = {
  offset?: number | undefined
  /** The id of the client's request, for the log. */
  requestId?: string | undefined
  /** The client's address, for the log. */
  address?: string | undefined
  /** Another node forwarded the client, which is therefore not forwarded again. */
  isForwarded?: boolean | undefined
  /** The ids of nodes that could not be reached. */
  avoid?: readonly string[] | undefined
  /** Aborts when the client disconnects: a client that has gone replaces no other. */
  signal?: AbortSignal | undefined
}

/** Partials are dropped while more bytes than this wait. */
const BUSY_BYTES = 256 * 1024
/** With more bytes waiting, the client is considered not to read, and is disconnected. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024

/** The callbacks and properties of a connection. */
export type ConnectionOptions = {
  /** The account that owns the session. */
  account?: string | undefined
  /**
   * Counts the bytes that the client has not read. Messages that must arrive are counted by the
   * outbox.
   */
  unread?: SessionUnreadBytes | undefined
  /** Whether the session had a connection before. */
  isResumed: boolean
  onFrame(data: Uint8Array, isBinary: boolean): void
  /** Called when the client has every message up to this number. */
  onConfirmed(number: number): void
  /** Called when the connection is lost; `code` is that of the side that closed it. */
  onLost(code: number): void
  /** Called when the client has read everything and answered the end of the session. */
  onFinished?(): void
  /** Resolves when more frames may be read; undefined when that is now. */
  whenReadable(): Promise<void> | undefined
}

/**
 * One client of a session, without its socket: the session pushes messages, and the owner of the
 * socket reads them with `messages` and passes received frames to `receive`. The connection ends
 * with `closeCode`.
 */
export class Connection {
  readonly #handlers: ConnectionOptions
  /** Messages that the client missed: they are sent before the new ones and have no size limit. */
  #replayed: OutgoingMessage[] = []
  #waiting: OutgoingMessage[] = []
  #bytes = 0
  /** Messages that must arrive and that the client has not confirmed, by ascending number. */
  #unconfirmed: OutgoingMessage[] = []
  #wake: (() => void) | undefined
  #closeCode: number | undefined

  constructor(handlers: ConnectionOptions) {
    this.#handlers = handlers
  }

  /** The code with which the server closes the connection; undefined while it does not. */
  get closeCode(): number | undefined {
    return this.#closeCode
  }

  /** The account that owns the session: accounts take turns. */
  get account(): string {
    return this.#handlers.account ?? ''
  }

  /**
   * Whether the session had a connection before: then the first frame may hold everything that the
   * client buffered.
   */
  get isResumed(): boolean {
    return this.#handlers.isResumed
  }

  /** Processes a frame of the client; see `whenReadable` before the next one is read. */
  receive(data: Uint8Array, isBinary: boolean): void {
    if (this.#closeCode === undefined) this.#handlers.onFrame(data, isBinary)
  }

  whenReadable(): Promise<void> | undefined {
    return this.#handlers.whenReadable()
  }

  /**
   * Records that the client answered something sent after the message with this sequence number.
   */
  markConfirmed(number: number): void {
    const { unread = unbounded } = this.#handlers
    let confirmedCount = 0
    for (const message of this.#unconfirmed) {
      if (message.sequence! > number) break
      unread.add(-messageMemory(message))
      confirmedCount++
    }
    this.#unconfirmed.splice(0, confirmedCount)
    this.#handlers.onConfirmed(number)
  }

  /**
   * Records that the socket is closed; `code` is the client's, which means nothing when the server
   * closed it.
   */
  socketClosed(code: number): void {
    const lostCode = this.#closeCode ?? code
    // The client is sure to have every message only if it answered the close.
    const isFinished = isSessionEnd(this.#closeCode) && code !== ABNORMAL_CLOSURE
    this.#dropWaiting()
    this.end(code)
    this.#handlers.onLost(lostCode)
    if (isFinished) this.#handlers.onFinished?.()
  }

  /** Queues the messages that the client missed while it was disconnected. */
  replay(messages: readonly OutgoingMessage[]): void {
    this.#unconfirmed.push(...messages)
    this.#replayed.push(...messages)
    this.#wake?.()
  }

  push(message: OutgoingMessage): void {
    // The message is kept even after the end: until the socket is closed, nothing else stores it.
    if (message.sequence !== undefined) this.#unconfirmed.push(message)
    if (this.#closeCode !== undefined) return
    if (message.isPartial && this.#bytes > BUSY_BYTES) return
    const { unread = unbounded } = this.#handlers
    const isOver = this.#bytes > MAX_WAITING_BYTES || unread.isOver()
    if (isOver && !message.isClosing) {
      this.#dropWaiting()
      this.end(closeCodes.overloaded)
      return
    }
    this.#waiting.push(message)
    this.#bytes += messageMemory(message)
    if (message.sequence === undefined) unread.add(messageMemory(message))
    this.#wake?.()
  }

  /** Ends the connection with `code`, once the waiting messages have been taken. */
  end(code: number): void {
    this.#closeCode ??= code
    this.#wake?.()
  }

  /** Drops the waiting messages: they are not sent any more. */
  #dropWaiting(): void {
    for (const message of this.#waiting.splice(0)) this.#uncount(message)
    this.#replayed = []
  }

  #uncount(message: OutgoingMessage): void {
    const { unread = unbounded } = this.#handlers
    this.#bytes -= messageMemory(message)
    if (message.sequence === undefined) unread.add(-messageMemory(message))
  }

  /** Returns the messages that the client may not have, for its next connection. */
  takeUnconfirmed(): OutgoingMessage[] {
    const unconfirmed = this.#unconfirmed
    this.#unconfirmed = []
    return unconfirmed
  }

  /** Yields messages in order, until the connection ends. */
  async *messages(): AsyncGenerator<OutgoingMessage> {
    for (;;) {
      const replayed = this.#replayed.shift()
      const message = replayed ?? this.#waiting.shift()
      if (message) {
        if (!replayed) this.#uncount(message)
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
