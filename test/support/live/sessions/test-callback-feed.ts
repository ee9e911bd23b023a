import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  CallbackFeed,
  type CallbackFeedOptions,
} from '../../../../src/live/callbacks/callback-feed.ts'
import { type ChunkRecord, formatLogRecord } from '../../../../src/live/journal/log-records.ts'
import { startMessage } from '../../../../src/live/messages/lifecycle-messages.ts'
import {
  headOf,
  type MessageFlags,
  routingOf,
  type ServerMessage,
  writeMessage,
} from '../../../../src/live/messages/server-messages.ts'
import { createLog } from '../../../../src/observability/log.ts'
import { openDeliveryBody } from '../../../../src/storage/deliveries/delivery-body.ts'
import {
  lastLiveCallback,
  liveCallbackBody,
} from '../../../../src/storage/deliveries/queue-deliveries.ts'
import { createDiskSessionStore } from '../../../../src/storage/live/disk-session-store.ts'
import {
  createCallbackQueue,
  type QueueCallbacks,
} from '../../../../src/storage/live/live-callbacks.ts'
import { beginLiveJob, finishLiveJob } from '../../../../src/storage/live/live-jobs.ts'
import { viewLiveUtterance } from '../../../../src/transcript/utterance-view.ts'
import { openTestStorage } from '../../storage/test-storage.ts'
import { allFlags as all } from './live-flags.ts'
import { beginNewLiveJob } from './test-live-jobs.ts'

/** Selects no message at all. */
export const noFlags = Object.fromEntries(
  Object.keys(all).map((flag) => [flag, false]),
) as MessageFlags
/** The audio format of the client. */
export const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const
/** When everything was sent. */
export const sentAt = Date.parse('2026-03-04T05:06:07.089Z')

/**
 * Opens the log of a session with a callback, over real files and a real store, and its readers.
 */
export async function openSession(
  t: TestContext,
  { flags = all, maxQueued = 100_000 }: { flags?: MessageFlags; maxQueued?: number } = {},
) {
  const { db, folder } = await openTestStorage(t)
  const callback_config = { url: 'https://hooks.example/live', ...flags }
  const params = { messages_config: noFlags, callback: true, callback_config }
  const routing = routingOf(params)
  const id = 'd5a1b6e4-0b0e-4f0a-9f0e-3f5d0f3f6a10'
  const job = await beginNewLiveJob(db, { id, params, startMessage })
  let lease = job.lease
  const store = await createDiskSessionStore(join(folder, 'live', id))
  t.after(() => store.close())
  const queue = createCallbackQueue(db, { maxQueued })

  /** Opens a feed as the next process does. */
  async function openFeed(
    changed: Partial<CallbackFeedOptions> & { queueHeld?: QueueCallbacks } = {},
  ) {
    lease = (await beginLiveJob(db, id, { owner: 'server', at: sentAt }))!
    const held = lease
    const { queueHeld = queue, ...options } = changed
    const feed = new CallbackFeed({
      sessionId: id,
      format,
      routing,
      store,
      db,
      lastQueued: await lastLiveCallback(db, { jobId: id }),
      queue: (messages) => queueHeld(held, messages),
      onQueued: () => {},
      onDropped: () => {},
      log: createLog('silent'),
      pauseMs: 0,
      retryMs: 0,
      ...options,
    })
    t.after(() => feed.close())
    return feed
  }

  async function write(...lines: string[]): Promise<void> {
    await store.write(undefined, lines)
  }

  async function append(...lines: string[]): Promise<void> {
    await write(...lines)
    await store.sync()
  }

  /** Ends the job, as the session does. */
  async function end(feed: CallbackFeed): Promise<boolean> {
    const result = { result: '{}', result_object: null, result_size: null }
    const callbacks = await feed.finish()
    return finishLiveJob(db, lease, { result, file: undefined, at: sentAt, callbacks })
  }

  /** Returns what is queued: numbers, events and bodies. */
  async function queued() {
    const rows = await db.sql
      .selectFrom('deliveries')
      .select(['seq', 'event', 'body', 'body_object as bodyObject'])
      .where('job_id', '=', id)
      .orderBy('seq')
      .execute()
    const bodies: string[] = []
    for (const row of rows) {
      const body = (await openDeliveryBody(db, { jobId: id, ...row }))!
      bodies.push(Buffer.concat(await Array.fromAsync(body.chunks())).toString())
    }
    return { seqs: rows.map(({ seq }) => seq), events: rows.map(({ event }) => event), bodies }
  }

  const objects = async () => (await Array.fromAsync(db.objects.list())).flat()
  const start = { sessionId: id, at: job.createdAt }
  const startText = writeMessage({ type: 'start_session' }, start)
  const begin = noteMessage(startText)
  return { id, db, folder, store, openFeed, write, append, end, queued, objects, begin, startText }
}

/** An open session. */
export type Session = Awaited<ReturnType<typeof openSession>>

/** Returns the log line of a message. */
export function noteMessage(text: string): string {
  return formatLogRecord({ kind: 'message', head: headOf(JSON.parse(text)), text })
}

/** Returns the text of a message, as sent at a fixed time. */
export function message({ id }: Pick<Session, 'id'>, message: ServerMessage): string {
  return writeMessage(message, { sessionId: id, at: sentAt })
}

/** Returns the text of a final transcript, or of a partial one. */
export function transcript(session: Pick<Session, 'id'>, text: string, is_final = true): string {
  const word = { text, start: 1, end: 2, confidence: 0.5 }
  const utterance = viewLiveUtterance(
    { channel: 0, language: 'en', words: [word] },
    { start: 1, end: 2 },
  )
  return message(session, { type: 'transcript', data: { id: '00_00000000', is_final, utterance } })
}

/** Returns messages in the form in which the session's callback receives them. */
export function expectedOf({ id }: Pick<Session, 'id'>, texts: readonly string[]) {
  return texts.map((text) => {
    return liveCallbackBody({ id, event: `live.${JSON.parse(text).type}`, message: text })
  })
}

/** Returns the record of a chunk after which this many bytes were received, all of them audio. */
export function chunk(received: number): ChunkRecord {
  return { at: sentAt, received, audio: received }
}

/** The state before the first audio. */
export const emptyChunk = chunk(0)
