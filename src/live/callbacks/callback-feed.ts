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
  createSelection,
  type LogReading,
  type SelectedMessage,
} from './callback-selection.ts'

/** Options of a callback feed. */
export type CallbackFeedOptions = CallbackSelectionOptions & {
  store: Pick<SessionStore, 'readDurableLines'>
  db: Db
  /** The number of the last message that was queued before; undefined when none was. */
  last: number | undefined
  /** Queues messages, see `QueueCallbacks`. */
  queue(messages: readonly LiveCallback[]): Promise<number | undefined>
  /** Called when something can be delivered. */
  onQueued(): void
  /** Called when this many messages were dropped because too many wait. */
  onDropped(messages: number): void
  log: Log
  pauseMs?: number
  retryMs?: number
}

/** The position of a feed in the log: everything before it is queued. */
type FeedPosition = {
  /** In bytes, at the start of a line. */
  offset: number
  /** Of the next message. */
  number: number
  /** The last chunk. */
  before: ChunkRecord
  /** Where the messages begin that are sent when the job has ended. */
  end: number | undefined
}

/**
 * Messages of a busy session are written in groups: ten times a second is often enough for a
 * callback.
 */
const PAUSE_MS = 100
/** Failed writes to the queue are retried after this time. */
const RETRY_MS = 2000
/** This many rows block other writers for some milliseconds. */
const MAX_TOGETHER = 200
/** UTF-8 takes at most three bytes for a character of a string. */
const SHORT_CHARACTERS = MAX_INLINE_RESULT_BYTES / 3

/**
 * Queues a session's messages for its callback. The feed reads from the session's log, as far as it
 * is on the disk, so that the session never waits, and memory holds no more than a position in it.
 * The n-th selected message has the number n: a process that resumes after a crash finds out from
 * the last number where to continue, and queues nothing twice.
 */
export class CallbackFeed {
  readonly #options: CallbackFeedOptions
  readonly #select: (line: string, before: ChunkRecord) => LogReading
  readonly #closing = new AbortController()
  #position: FeedPosition = {
    offset: 0,
    number: 0,
    before: { at: 0, received: 0, audio: 0 },
    end: undefined,
  }
  #fed: Promise<void> = Promise.resolve()
  #following: Promise<void> | undefined
  #hasMore = false

  constructor(options: CallbackFeedOptions) {
    this.#options = options
    this.#select = createSelection(options)
  }

  /**
   * Reports that more may be on the disk: it is queued soon, with retries for as long as that
   * fails.
   */
  wake(): void {
    this.#hasMore = true
    this.#following ??= this.#follow()
  }

  /**
   * Queues everything that is on the disk by now except the last messages; rejects when that fails.
   */
  feed(): Promise<void> {
    const fed = this.#fed.then(() => this.#feedStored())
    this.#fed = fed.catch(() => {})
    return fed
  }

  /**
   * Feeds likewise, and returns the messages to be queued when the job has ended. Rejects when the
   * feed is closed meanwhile, as a server that stops does: the job must not end without them.
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

  /** Closes the feed once the current write is done; the next feed queues the rest. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#following
    await this.#fed
  }

  async #follow(): Promise<void> {
    const { log, sessionId, pauseMs = PAUSE_MS, retryMs = RETRY_MS } = this.#options
    const { signal } = this.#closing
    while (this.#hasMore && !signal.aborted) {
      this.#hasMore = false
      let pause = pauseMs
      try {
        await this.feed()
      } catch (error) {
        if (signal.aborted) break
        log.error({ err: error, sessionId }, 'cannot queue live callbacks, retrying')
        this.#hasMore = true
        pause = retryMs
      }
      await delay(pause, undefined, { signal }).catch(() => {})
    }
    this.#following = undefined
  }

  async #feedStored(): Promise<void> {
    const { store } = this.#options
    const { signal } = this.#closing
    signal.throwIfAborted()
    for await (const lines of store.readDurableLines(this.#position.offset)) {
      const place = { ...this.#position }
      let messages: NumberedMessage[] = []
      for (const { text, end } of lines) {
        const { message, chunk } = this.#select(text, place.before)
        if (message?.isAtEnd) place.end ??= place.offset
        else if (message) messages.push({ message, number: place.number++ })
        if (chunk) place.before = chunk
        place.offset = end
        if (messages.length < MAX_TOGETHER) continue
        await this.#queue(messages, place)
        messages = []
      }
      await this.#queue(messages, place)
      signal.throwIfAborted()
    }
  }

  /** Once this resolves, everything before `place` is queued. */
  async #queue(messages: readonly NumberedMessage[], place: FeedPosition): Promise<void> {
    const { last = -1, db, queue, onQueued, onDropped } = this.#options
    const rows = await this.#toRows(messages.filter(({ number }) => number > last))
    if (rows.length > 0) {
      const dropped = await commitOrDelete(
        db,
        () => queue(rows),
        () => dropBodies(db, rows),
      )
      if (dropped) onDropped(dropped)
      onQueued()
    }
    this.#position = { ...place }
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
  if (text.length <= SHORT_CHARACTERS) return { body: text, body_object: null }
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
