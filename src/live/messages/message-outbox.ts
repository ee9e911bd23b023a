import type { Connection, Outgoing } from '../connection.ts'
import type { Journal } from '../recovery/journal.ts'
import { writeRecord } from '../recovery/session-log.ts'
import {
  type Routing,
  type ServerMessage,
  type TextMessage,
  writeMessage,
} from './server-messages.ts'
import { bytesOf, type UnreadShare, unbounded } from './unread-bytes.ts'

/** An acknowledgement, as far as routing is concerned. */
export const someAck: ServerMessage = {
  type: 'audio_chunk',
  acknowledged: true,
  error: null,
  data: null,
}

/** What of a session's messages an earlier process noted. */
export type EarlierMessages = {
  /** Messages that must arrive, so far. */
  numbered: number
  /** Those that the client may not have. */
  missed: Outgoing[]
  /** Those of them that go out only when the result is stored, by type. */
  withheld: Map<string, Outgoing>
}

/** How messages leave a session. */
export type MessageOutboxOptions = {
  sessionId: string
  routing: Routing
  journal: Journal
  /** Messages kept for a client that is not there. */
  maxMissed: number
  /** Where it is counted what clients have not read. */
  unread?: UnreadShare | undefined
  /** Called when a message is left out of the log, which is large already. */
  onUnkept?: (() => void) | undefined
  /** Called when messages are lost to a client that did not fetch them. */
  onCut?: (() => void) | undefined
  earlier: EarlierMessages | undefined
}

/** `isLast`: it comes at the end, see `Outgoing`; `at`: its moment, if that is not now. */
export type SendOptions = { isLast?: boolean; at?: number }

/**
 * The messages of a session on their way out: stored first, then given to the client. While there is none,
 * those that must arrive wait; partials and acknowledgements do not.
 */
export class MessageOutbox {
  readonly #options: MessageOutboxOptions
  #connection: Connection | undefined
  #missed: Outgoing[]
  #numbered: number

  constructor(options: MessageOutboxOptions) {
    this.#options = options
    this.#missed = options.earlier?.missed ?? []
    this.#numbered = options.earlier?.numbered ?? 0
    for (const message of this.#missed) this.#unread.add(bytesOf(message))
    this.#cut()
  }

  get #unread(): UnreadShare {
    return this.#options.unread ?? unbounded
  }

  get connection(): Connection | undefined {
    return this.#connection
  }

  /** Whether a message like this would go anywhere now. */
  isWanted(message: ServerMessage): boolean {
    const { routing } = this.#options
    if (routing.isForCallback(message)) return true
    return this.#connection !== undefined && routing.isForSocket(message)
  }

  /** Whether a message like this is selected at all: others leave no trace. */
  isForAnybody(message: ServerMessage | TextMessage): boolean {
    const { routing } = this.#options
    return routing.isForSocket(message) || routing.isForCallback(message)
  }

  /** Stores a message, if anybody is to have it, then sends it. */
  send(message: ServerMessage | TextMessage, options: SendOptions = {}): void {
    this.prepare(message, options)()
  }

  /** Stores a message and returns what sends it. */
  prepare(
    message: ServerMessage | TextMessage,
    { isLast = false, at = Date.now() }: SendOptions = {},
  ): () => void {
    const { sessionId, routing, journal } = this.#options
    const isForSocket = routing.isForSocket(message)
    if (!this.isForAnybody(message)) return () => {}
    const text = writeMessage(message, { sessionId, at })
    const isKept = mustArrive(message) || !journal.isLarge
    if (!isKept) this.#options.onUnkept?.()
    const entry = { lines: isKept ? [writeRecord({ kind: 'message', text })] : [] }
    if (!isForSocket) {
      journal.append(entry)
      return () => {}
    }
    const number = mustArrive(message) ? ++this.#numbered : undefined
    const outgoing: Outgoing = {
      text,
      ...(number !== undefined && { number }),
      ...(isPartial(message) && { isPartial: true }),
      ...(isLast && { isLast }),
    }
    let [isAsked, isStored] = [false, false]
    const deliver = () => {
      if (isAsked && isStored) this.#deliver(outgoing)
    }
    journal.append({
      ...entry,
      onStored: () => {
        isStored = true
        deliver()
      },
    })
    return () => {
      isAsked = true
      deliver()
    }
  }

  /** Whether anybody is to have acknowledgements of chunks. */
  get wantsAcks(): boolean {
    const { routing } = this.#options
    return routing.isForSocket(someAck) || routing.isForCallback(someAck)
  }

  /** Sends a message that an earlier process had prepared, if it had. */
  release(type: string): void {
    const message = this.#options.earlier?.withheld.get(type)
    if (message) this.#deliver(message)
  }

  /** Sends an acknowledgement, which is noted elsewhere. */
  acknowledge(text: string): void {
    if (this.#options.routing.isForSocket(someAck)) this.#deliver({ text })
  }

  /** A client has come: it gets what was missed, then whatever follows. */
  attach(connection: Connection): void {
    this.#connection = connection
    connection.bring(this.#missed.splice(0))
  }

  /** The client is gone, with whatever it had not confirmed. */
  detach(connection: Connection): void {
    this.#missed = [...connection.takeUnseen(), ...this.#missed]
    if (this.#connection === connection) this.#connection = undefined
    this.#cut()
  }

  #deliver(message: Outgoing): void {
    if (message.number !== undefined) this.#unread.add(bytesOf(message))
    // One that is ending takes nothing any more: what must arrive waits for the next.
    if (this.#connection && this.#connection.closeCode === undefined) {
      this.#connection.push(message)
    } else if (message.number !== undefined) {
      this.#missed.push(message)
      this.#cut()
    }
  }

  /** Drops the oldest of what no client has fetched, where that is too much; the last one stays. */
  #cut(): void {
    const { maxMissed, onCut } = this.#options
    let cut = Math.max(0, this.#missed.length - maxMissed)
    for (const message of this.#missed.slice(0, cut)) this.#unread.add(-bytesOf(message))
    while (cut < this.#missed.length - 1 && this.#unread.isOver()) {
      this.#unread.add(-bytesOf(this.#missed[cut++]!))
    }
    if (cut === 0) return
    this.#missed.splice(0, cut)
    onCut?.()
  }
}

/** What a client that was away is told when it comes back: all but partials and acknowledgements. */
export function mustArrive(message: ServerMessage | TextMessage): boolean {
  return message.type !== 'audio_chunk' && message.type !== 'stop_recording' && !isPartial(message)
}

function isPartial(message: ServerMessage | TextMessage): boolean {
  return message.type === 'transcript' && !message.data.is_final
}
