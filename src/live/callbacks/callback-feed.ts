import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { type LiveCallback, liveCallbackBody } from '../../storage/deliveries/queue-deliveries.ts'
import {
  commitOrDelete,
  deleteResultObject,
  MAX_INLINE_RESULT_BYTES,
  storeResultText,
} from '../../storage/jobs/results.ts'
import type { SessionStore } from '../../storage/live/session-store.ts'
import type { ChunkRecord } from '../journal/log-records.ts'
import { textChunks } from '../result/result-messages.ts'
import {
  type CallbackSelectionOptions,
  createCallbackSelection,
  type SelectedLine,
  type SelectedMessage,
} from './callback-selection.ts'

/** Options of a callback feed. */
export type CallbackFeedOptions = CallbackSelectionOptions & {
  store: Pick<SessionStore, 'readDurableLines'>
  db: Db
  /** The number of the last message that an earlier process queued; undefined when none was. */
  lastQueued: number | undefined
  /** Queues messages, see `QueueCallbacks`. */
  queue(messages: readonly LiveCallback[]): Promise<number | undefined>
  /** Called when something can be delivered. */
  onQueued(): void
  /** Called with the number of messages that were dropped because too many wait. */
  onDropped(messages: number): void
  log: Log
  pauseMs?: number
  retryMs?: number
}

/** The position of a feed in the log: everything before it is queued. */
type FeedPosition = {
  /** Byte offset in the log, at the start of a line. */
  offset: number
  /** The number of the next selected message. */
  number: number
  /** The last chunk before this position. */
  before: ChunkRecord
  /**
   * Byte offset of the first message that is sent only after the job has ended; undefined before it
   * is logged.
   */
  end: number | undefined
}

/** Pause between two writes to the queue: a busy session queues its messages in batches. */
const PAUSE_MS = 100
/** Failed writes to the queue are retried after this time. */
const RETRY_MS = 2000
/** Maximum rows in one write: this many block other writers for some milliseconds. */
const MAX_BATCH = 200
/**
 * A body of at most this length is stored in its row. UTF-8 takes at most three bytes for a UTF-16
 * code unit.
 */
const MAX_INLINE_CHARACTERS = MAX_INLINE_RESULT_BYTES / 3

/**
 * Queues a session's messages for its callback. The feed reads the part of the session's log that
 * is on disk, so that the session never waits, and memory holds no more than a position in the
 * log. The n-th selected message has the number n: a process that resumes after a crash continues
 * after the last queued number, and queues no message twice.
 */
export class CallbackFeed {
  readonly #options: CallbackFeedOptions
  readonly #select: (line: string, before: ChunkRecord) => SelectedLine
  readonly #closing = new AbortController()
  #position: FeedPosition = {
    offset: 0,
    number: 0,
    before: { at: 0, received: 0, audio: 0 },
    end: undefined,
  }
  #lastFeed: Promise<void> = Promise.resolve()
  #loop: Promise<void> | undefined
  #hasNewLines = false

  constructor(options: CallbackFeedOptions) {
    this.#options = options
    this.#select = createCallbackSelection(options)
  }

  /**
   * Reports that more of the log may be on disk. The feed queues the new messages soon, and
   * retries for as long as that fails.
   */
  wake(): void {
    this.#hasNewLines = true
    this.#loop ??= this.#runLoop()
  }

  /**
   * Queues every message that is on disk, except those that are sent after the job has ended.
   * Rejects when that fails.
   */
  feed(): Promise<void> {
    const fed = this.#lastFeed.then(() => this.#feedStored())
    this.#lastFeed = fed.catch(() => {})
    return fed
  }

  /**
   * Queues messages as `feed` does, and returns those that are queued together with the end of the
   * job. Rejects when the feed is closed meanwhile, as by a server that stops: the job must not end
   * without these messages.
   */
  async finish(): Promise<LiveCallback[]> {
    await this.feed()
    const { end, number, before } = this.#position
    if (end === undefined) return []
    const messages: SelectedMessage[] = []
    for await (const lines of this.#options.store.readDurableLines(end)) {
      const read = lines.flatMap(({ text }) => this.#select(text, before).message ?? [])
      messages.push(...read.filter(({ isAtEnd }) => isAtEnd))
    }
    this.#closing.signal.throwIfAborted()
    return this.#toRows(messages.map((message, i) => ({ message, number: number + i })))
  }

  /**
   * Closes the feed once the current write is done; the next feed of the session queues the
   * remaining messages.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#loop
    await this.#lastFeed
  }

  async #runLoop(): Promise<void> {
    const { log, sessionId, pauseMs = PAUSE_MS, retryMs = RETRY_MS } = this.#options
    const { signal } = this.#closing
    while (this.#hasNewLines && !signal.aborted) {
      this.#hasNewLines = false
      let pause = pauseMs
      try {
        await this.feed()
      } catch (error) {
        if (signal.aborted) break
        log.error({ err: error, sessionId }, 'cannot queue live callbacks, retrying')
        this.#hasNewLines = true
        pause = retryMs
      }
      await delay(pause, undefined, { signal }).catch(() => {})
    }
    this.#loop = undefined
  }

  async #feedStored(): Promise<void> {
    const { store } = this.#options
    const { signal } = this.#closing
    signal.throwIfAborted()
    for await (const lines of store.readDurableLines(this.#position.offset)) {
      const position = { ...this.#position }
      let messages: NumberedMessage[] = []
      for (const { text, end } of lines) {
        const { message, chunk } = this.#select(text, position.before)
        if (message?.isAtEnd) position.end ??= position.offset
        else if (message) messages.push({ message, number: position.number++ })
        if (chunk) position.before = chunk
        position.offset = end
        if (messages.length < MAX_BATCH) continue
        await this.#queue(messages, position)
        messages = []
      }
      await this.#queue(messages, position)
      signal.throwIfAborted()
    }
  }

  /** Once this resolves, everything before `position` is queued. */
  async #queue(messages: readonly NumberedMessage[], position: FeedPosition): Promise<void> {
    const { lastQueued = -1, db, queue, onQueued, onDropped } = this.#options
    const rows = await this.#toRows(messages.filter(({ number }) => number > lastQueued))
    if (rows.length > 0) {
      const dropped = await commitOrDelete(
        db,
        () => queue(rows),
        () => dropBodies(db, rows),
      )
      if (dropped) onDropped(dropped)
      onQueued()
    }
    this.#position = { ...position }
  }

  async #toRows(messages: readonly NumberedMessage[]): Promise<LiveCallback[]> {
    const { sessionId: id, db } = this.#options
    const rows: LiveCallback[] = []
    try {
      for (const { message, number } of messages) {
        const { type, isDroppable } = message
        const event = `live.${type}`
        const body = await storeBody(db, liveCallbackBody({ id, event, message: message.text() }))
        rows.push({ ...body, event, seq: number, isDroppable })
      }
      return rows
    } catch (error) {
      await dropBodies(db, rows)
      throw error
    }
  }
}

type NumberedMessage = { message: SelectedMessage; number: number }
type Body = Pick<LiveCallback, 'body' | 'body_object'>

async function storeBody(db: Db, text: string): Promise<Body> {
  if (text.length <= MAX_INLINE_CHARACTERS) return { body: text, body_object: null }
  async function* pieces(): AsyncGenerator<string> {
    yield* textChunks(text)
  }
  const { result, result_object } = await storeResultText(db, pieces())
  return { body: result, body_object: result_object }
}

/** Deletes the long bodies of messages that could not be queued. */
export async function dropBodies(db: Db, bodies: readonly Body[]): Promise<void> {
  for (const { body_object } of bodies) await deleteResultObject(db, { result_object: body_object })
}
