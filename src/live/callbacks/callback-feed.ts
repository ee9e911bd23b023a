import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { Db } from '../../storage/db.ts'
import { type LiveCallback, liveCallbackBody } from '../../storage/deliveries/delivery-outbox.ts'
import { dropResult, MAX_INLINE_RESULT_BYTES, storeResultText } from '../../storage/jobs/results.ts'
import type { LiveFiles } from '../../storage/live/live-files.ts'
import type { ChunkRecord } from '../recovery/session-log.ts'
import { inChunks } from '../result/result-messages.ts'
import {
  createSelection,
  type LogReading,
  type SelectedMessage,
  type SelectionOptions,
} from './callback-selection.ts'

/** What a feed is made from. */
export type CallbackFeedOptions = SelectionOptions & {
  files: Pick<LiveFiles, 'readStoredLines'>
  db: Db
  /** The number of the last message that was queued before; undefined when none was. */
  last: number | undefined
  /** Queues messages, see `QueueCallbacks`. */
  queue(messages: readonly LiveCallback[]): Promise<number | undefined>
  /** Something can be delivered. */
  onQueued(): void
  /** So many were left out because too many wait. */
  onDropped(messages: number): void
  log: Log
  pauseMs?: number
  retryMs?: number
}

/** Where a feed is in the log: all before is queued. */
type Place = {
  /** In bytes, where a line begins. */
  offset: number
  /** Of the next message. */
  number: number
  /** The last chunk. */
  before: ChunkRecord
  /** Where the messages begin that go out when the job has ended. */
  end: number | undefined
}

/** A session that says much is written together: ten times a second is soon enough for a callback. */
const PAUSE_MS = 100
/** What could not be queued is tried again after this time. */
const RETRY_MS = 2000
/** So many rows keep other writers waiting for some milliseconds. */
const MAX_TOGETHER = 200
/** UTF-8 takes three bytes at most for a character of a string. */
const SHORT_CHARACTERS = MAX_INLINE_RESULT_BYTES / 3

/**
 * Queues what a session tells its callback. The session's log is the queue from which it reads, as far as
 * that is on the disk, so that the session never waits, and memory holds no more than a place in it. The
 * n-th message that is selected has the number n: a process that goes on after a crash knows by the last
 * number where to go on, and queues nothing twice.
 */
export class CallbackFeed {
  readonly #options: CallbackFeedOptions
  readonly #select: (line: string, before: ChunkRecord) => LogReading
  readonly #closing = new AbortController()
  #place: Place = {
    offset: 0,
    number: 0,
    before: { at: 0, received: 0, sound: 0 },
    end: undefined,
  }
  #fed: Promise<void> = Promise.resolve()
  #following: Promise<void> | undefined
  #isBehind = false

  constructor(options: CallbackFeedOptions) {
    this.#options = options
    this.#select = createSelection(options)
  }

  /** There may be more on the disk: it is queued soon, and tried again for as long as that fails. */
  wake(): void {
    this.#isBehind = true
    this.#following ??= this.#follow()
  }

  /** Queues all that is on the disk by now but the last messages; rejects when that cannot be done. */
  feed(): Promise<void> {
    const fed = this.#fed.then(() => this.#feedStored())
    this.#fed = fed.catch(() => {})
    return fed
  }

  /** Does that, and makes the messages that are to be queued when the job is ended. */
  async finish(): Promise<LiveCallback[]> {
    await this.feed()
    const { end, number, before } = this.#place
    if (end === undefined) return []
    const messages: SelectedMessage[] = []
    for await (const lines of this.#options.files.readStoredLines(end)) {
      const read = lines.flatMap(({ text }) => this.#select(text, before).message ?? [])
      messages.push(...read.filter(({ isAtEnd }) => isAtEnd))
    }
    return this.#toRows(messages.map((message, i) => ({ message, number: number + i })))
  }

  /** Ends it when what is being queued is; the rest is left to the next one. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#following
    await this.#fed
  }

  async #follow(): Promise<void> {
    const { log, sessionId, pauseMs = PAUSE_MS, retryMs = RETRY_MS } = this.#options
    const { signal } = this.#closing
    while (this.#isBehind && !signal.aborted) {
      this.#isBehind = false
      let pause = pauseMs
      try {
        await this.feed()
      } catch (error) {
        log.error({ err: error, sessionId }, 'cannot queue live callbacks, trying again')
        this.#isBehind = true
        pause = retryMs
      }
      await delay(pause, undefined, { signal }).catch(() => {})
    }
    this.#following = undefined
  }

  async #feedStored(): Promise<void> {
    const { files } = this.#options
    for await (const lines of files.readStoredLines(this.#place.offset)) {
      const place = { ...this.#place }
      let messages: Numbered[] = []
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
      if (this.#closing.signal.aborted) return
    }
  }

  /** Once this resolves, all before `place` is queued. */
  async #queue(messages: readonly Numbered[], place: Place): Promise<void> {
    const { last = -1, db, queue, onQueued, onDropped } = this.#options
    const rows = await this.#toRows(messages.filter(({ number }) => number > last))
    if (rows.length > 0) {
      let dropped: number | undefined
      try {
        dropped = await queue(rows)
      } finally {
        if (dropped === undefined) await dropBodies(db, rows)
      }
      if (dropped) onDropped(dropped)
      onQueued()
    }
    this.#place = { ...place }
  }

  async #toRows(messages: readonly Numbered[]): Promise<LiveCallback[]> {
    const { sessionId: id, db } = this.#options
    const rows: LiveCallback[] = []
    try {
      for (const { message, number } of messages) {
        const { type, isPassing } = message
        const event = `live.${type}`
        const body = await storeBody(db, liveCallbackBody({ id, event, message: message.text() }))
        rows.push({ ...body, event, seq: number, isPassing })
      }
      return rows
    } catch (error) {
      await dropBodies(db, rows)
      throw error
    }
  }
}

type Numbered = { message: SelectedMessage; number: number }
type Body = Pick<LiveCallback, 'body' | 'body_object'>

async function storeBody(db: Db, text: string): Promise<Body> {
  if (text.length <= SHORT_CHARACTERS) return { body: text, body_object: null }
  async function* pieces(): AsyncGenerator<string> {
    yield* inChunks(text)
  }
  const { result, result_object } = await storeResultText(db, pieces())
  return { body: result, body_object: result_object }
}

/** Deletes the long bodies of messages that could not be queued. */
export async function dropBodies(db: Db, bodies: readonly Body[]): Promise<void> {
  for (const { body_object } of bodies) await dropResult(db, { result_object: body_object })
}
