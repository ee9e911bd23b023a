import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { addToCount } from '../../../numbers.ts'
import type { Db } from '../../../storage/database/db.ts'
import {
  type EventCursor,
  lastEventCursor,
  readEventsAfter,
  type StoredEvent,
} from '../../../storage/jobs/events.ts'
import { createModelEvents } from '../../responses/streams/model-events.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'

/** How often a stream looks for new events. */
const POLL_MS = 1000
/** The interval of comments, which keep proxies from closing a quiet stream. */
const COMMENT_MS = 15_000
/**
 * The longest stream. The client then connects again, as it must when a proxy ends a long response.
 */
const MAX_STREAM_MS = 300_000
const MAX_STREAMS_PER_ACCOUNT = 50
const BATCH_EVENTS = 100

const Headers = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      maxLength: 31,
      description: 'The id of the last event that arrived: those after it are sent',
    }),
  ),
})

const schema = {
  tags: ['Server'],
  operationId: 'getEvents',
  summary: 'Stream the events of an account',
  description:
    'Sends server-sent events of the account: `job` for recordings, `session` for live sessions, `delivery` for what was delivered or not. Their data is JSON: `id`, `status` (of a job; `deleted` for one that is gone), `at`; of a delivery also `job_id`. Keys with the scope `admin` also get `model` while a model is being pulled: `name`, `status` (`pulling`, `installed`, `failed`), `fraction`, `seconds_left`, `message`; these are not sent again. Without `Last-Event-ID` the stream begins now; events are kept for a day. The server ends each stream after five minutes, and clients such as `EventSource` connect again.',
  headers: Headers,
  response: {
    200: {
      description: 'Events, until the client or the server ends the stream',
      content: { 'text/event-stream': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
    },
    ...errorResponses(400, 429),
  },
}

/**
 * Streams the events of an account's jobs and deliveries as they happen. An extension of the API.
 */
export function eventRoutes({
  models,
  storage: { db },
}: Pick<App, 'models' | 'storage'>): FastifyPluginAsyncTypebox {
  const streams = new Map<string, number>()
  const stopping = new AbortController()

  return async (http) => {
    http.addHook('preClose', async () => stopping.abort())
    http.get('/v2/events', { schema }, async (request, reply) => {
      const { account, headers, method, scopes } = request
      const lastId = headers['last-event-id']
      const from = lastId ? parseId(lastId) : await lastEventCursor(db)
      if ((streams.get(account) ?? 0) >= MAX_STREAMS_PER_ACCOUNT) {
        const detail = `the account has ${MAX_STREAMS_PER_ACCOUNT} open event streams`
        throw new AppError('rate_limited', detail, { retryAfter: COMMENT_MS / 1000 })
      }
      reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .header('x-content-type-options', 'nosniff')
      if (method === 'HEAD') return reply.send(Readable.from([]))
      addToCount(streams, account, 1)
      const disconnected = new AbortController()
      reply.raw.once('close', () => disconnected.abort())
      const signal = AbortSignal.any([stopping.signal, disconnected.signal])
      const readModels = scopes.includes('admin') && createModelEvents(models.pulls)
      const stream = Readable.from(
        writeEvents(db, from, {
          account,
          signal,
          readModels,
          isAllowed: request.isStillAllowed,
        }),
      )
      stream.once('close', () => {
        disconnected.abort()
        addToCount(streams, account, -1)
      })
      return reply.send(stream)
    })
  }
}

type EventOptions = {
  account: string
  signal: AbortSignal
  readModels: false | (() => string[])
  /** Returns whether the client still has access; the stream ends once it returns false. */
  isAllowed: () => Promise<boolean>
}

/** Yields the events after `from` as they happen, until the stream reaches its maximum age. */
async function* writeEvents(
  db: Db,
  from: EventCursor,
  { account, signal, readModels, isAllowed }: EventOptions,
): AsyncGenerator<string> {
  const end = performance.now() + MAX_STREAM_MS
  let cursor = from
  let quietSince = performance.now()
  // With this id, the client can resume even before the first event.
  yield `retry: ${POLL_MS}\nid: ${cursor.tx}-${cursor.seq}\n\n`
  while (!signal.aborted && performance.now() < end) {
    if (!(await isAllowed())) return
    const events = await readEventsAfter(db, cursor, { account, limit: BATCH_EVENTS })
    for (const event of events) yield writeEvent(event)
    for (const data of readModels ? readModels() : []) yield `event: model\ndata: ${data}\n\n`
    cursor = events.at(-1) ?? cursor
    if (events.length > 0) quietSince = performance.now()
    if (events.length === BATCH_EVENTS) continue
    if (performance.now() - quietSince > COMMENT_MS) {
      yield ': quiet\n\n'
      quietSince = performance.now()
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

const names = { 'pre-recorded': 'job', live: 'session', delivery: 'delivery' } as const

function writeEvent({ tx, seq, kind, jobId, deliveryId, status, at }: StoredEvent): string {
  const subject = kind === 'delivery' ? { id: deliveryId, job_id: jobId } : { id: jobId }
  const data = JSON.stringify({ ...subject, status, at: new Date(at).toISOString() })
  return `id: ${tx}-${seq}\nevent: ${names[kind]}\ndata: ${data}\n\n`
}

function parseId(text: string): EventCursor {
  const [, tx, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  if (tx !== undefined) return { tx: Number(tx), seq: Number(seq) }
  const validationErrors = ['last_event_id must be the id of an event']
  throw new AppError('request_invalid', undefined, { validationErrors })
}
