import { wallNow } from '../../clock.ts'
import type { Connection, OutgoingMessage } from '../connection/connection.ts'
import type { Journal } from '../journal/journal.ts'
import { formatLogRecord } from '../journal/log-records.ts'
import { warningTexts } from '../journal/session-warnings.ts'
import type { CaptionFeed } from './caption-feed.ts'
import {
  ackHead,
  headOf,
  isReliable,
  type MessageHead,
  type Routing,
  type ServerMessage,
  type TextMessage,
  writeMessage,
} from './server-messages.ts'
import { messageMemory, type SessionUnreadBytes, unbounded } from './unread-bytes.ts'

/** The messages of a session that an earlier process logged. */
export type EarlierMessages = {
  /** The number of messages so far that must arrive. */
  reliableCount: number
  /** The messages that the client may not have received. */
  missed: OutgoingMessage[]
  /** The messages that are sent only after the result is stored, by type. */
  withheld: Map<string, OutgoingMessage>
}

/** Options of the outbox. */
export type MessageOutboxOptions = {
  sessionId: string
  routing: Routing
  journal: Journal
  /** Receives every transcript, whatever the client selects. */
  captions?: CaptionFeed | undefined
  /** Messages kept while no client is connected. */
  maxMissed: number
  /** Counts the bytes that clients have not read. */
  unread?: SessionUnreadBytes | undefined
  /** Logs what the result lacks, once. */
  warn(text: string): void
  earlier: EarlierMessages | undefined
}

/** `isClosing` is as in `OutgoingMessage`; `at` is the message's time, if that is not now. */
export type SendMessageOptions = { isClosing?: boolean; at?: number }

/**
 * Stores the outgoing messages of a session, then passes them to the client. While no client is
 * connected, messages that must arrive wait; partials and acknowledgments do not.
 */
export class MessageOutbox {
  readonly #options: MessageOutboxOptions
  #connection: Connection | undefined
  #missed: OutgoingMessage[]
  #reliableCount: number

  constructor(options: MessageOutboxOptions) {
    this.#options = options
    this.#missed = options.earlier?.missed ?? []
    this.#reliableCount = options.earlier?.reliableCount ?? 0
    for (const message of this.#missed) this.#unread.add(messageMemory(message))
    this.#dropOldest()
  }

  get #unread(): SessionUnreadBytes {
    return this.#options.unread ?? unbounded
  }

  get connection(): Connection | undefined {
    return this.#connection
  }

  /** Returns whether such a message would be sent to any receiver now. */
  hasReceiverNow(head: MessageHead): boolean {
    const { routing } = this.#options
    if (routing.isForCallback(head)) return true
    return this.#connection !== undefined && routing.isForSocket(head)
  }

  /**
   * Returns whether the client or the callback selects such a message; messages that neither
   * selects are not stored.
   */
  hasReceiver(head: MessageHead): boolean {
    const { routing } = this.#options
    return routing.isForSocket(head) || routing.isForCallback(head)
  }

  /** Stores a message, if any receiver selects it, then sends it. */
  send(message: ServerMessage | TextMessage, options: SendMessageOptions = {}): void {
    void this.prepare(message, options)()
  }

  /** Stores a message and returns the function that sends it, as soon as it is stored. */
  prepare(
    message: ServerMessage | TextMessage,
    { isClosing = false, at = wallNow() }: SendMessageOptions = {},
  ): () => Promise<void> {
    const { sessionId, routing, journal, warn, captions } = this.#options
    const head = headOf(message)
    if (message.type === 'transcript') captions?.publish(message.data)
    const isForSocket = routing.isForSocket(head)
    if (!this.hasReceiver(head)) return async () => {}
    const text = writeMessage(message, { sessionId, at })
    const isKept = isReliable(head) || !journal.isLarge
    if (!isKept) warn(warningTexts.unkept)
    const lines = isKept ? [formatLogRecord({ kind: 'message', head, text })] : []
    const { durable } = journal.append({ lines })
    if (!isForSocket) return async () => {}
    const number = isReliable(head) ? ++this.#reliableCount : undefined
    const outgoing: OutgoingMessage = {
      text,
      ...(number !== undefined && { sequence: number }),
      ...(head.variant === 'partial' && { isPartial: true }),
      ...(isClosing && { isClosing }),
    }
    return () => durable.then(() => this.#deliver(outgoing))
  }

  /** Whether any receiver selects acknowledgments of chunks. */
  get wantsAcks(): boolean {
    return this.hasReceiver(ackHead)
  }

  /** Sends a message that an earlier process prepared, if it did. */
  release(type: string): void {
    const message = this.#options.earlier?.withheld.get(type)
    if (message) this.#deliver(message)
  }

  /** Sends an acknowledgment, which is logged elsewhere. */
  acknowledge(text: string): void {
    if (this.#options.routing.isForSocket(ackHead)) this.#deliver({ text })
  }

  /** Ends the connection, if there is one, once everything sent before is stored and passed on. */
  disconnect(code: number): void {
    const connection = this.#connection
    if (!connection) return
    void this.#options.journal.append({ lines: [] }).durable.then(() => connection.end(code))
  }

  /** Detaches the client, if there is one, and ends its connection. */
  drop(code: number): void {
    const connection = this.#connection
    if (!connection) return
    this.detach(connection)
    connection.end(code)
  }

  /** Attaches a connected client: it receives the missed messages, then the new ones. */
  attach(connection: Connection): void {
    this.#connection = connection
    connection.replay(this.#missed.splice(0))
  }

  /** Detaches a client, and takes back the messages that it had not confirmed. */
  detach(connection: Connection): void {
    this.#missed = [...connection.takeUnconfirmed(), ...this.#missed]
    if (this.#connection === connection) this.#connection = undefined
    this.#dropOldest()
  }

  #deliver(message: OutgoingMessage): void {
    if (message.sequence !== undefined) this.#unread.add(messageMemory(message))
    // A connection that is ending accepts no messages: what must arrive waits for the next one.
    if (this.#connection && this.#connection.closeCode === undefined) {
      this.#connection.push(message)
    } else if (message.sequence !== undefined) {
      this.#missed.push(message)
      this.#dropOldest()
    }
  }

  /** Drops the oldest unfetched messages beyond the limits; the last one stays. */
  #dropOldest(): void {
    const { maxMissed, warn } = this.#options
    let dropCount = Math.max(0, this.#missed.length - maxMissed)
    for (const message of this.#missed.slice(0, dropCount))
      this.#unread.add(-messageMemory(message))
    while (dropCount < this.#missed.length - 1 && this.#unread.isOver()) {
      this.#unread.add(-messageMemory(this.#missed[dropCount++]!))
    }
    if (dropCount === 0) return
    this.#missed.splice(0, dropCount)
    warn(warningTexts.unread)
  }
}
