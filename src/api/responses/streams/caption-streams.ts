import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { LiveCaption } from '../../../live/messages/caption-feed.ts'
import { findNodeOfSession } from '../../../live/sessions/nodes/placement.ts'
import { addToCount } from '../../../numbers.ts'
import { findJob, type Job } from '../../../storage/jobs/jobs.ts'
import { clientAddressOf } from '../../auth/client-address.ts'
import {
  FORWARDED_HEADER,
  forwardedHeaders,
  targetAt,
} from '../../routes/live/sockets/forward-socket.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'

/**
 * How often a stream checks which node runs the session, and whether the viewer still has access.
 */
const CHECK_INTERVAL_MS = 1000
/** The interval of comments, which keep proxies from closing a quiet stream. */
const COMMENT_MS = 15_000
/** The longest stream. The client then connects again, and its key or link is checked again. */
const MAX_STREAM_MS = 300_000
/** Maximum watchers of a session: each is a socket, and each caption is written to all of them. */
const MAX_WATCHERS = 200
/** How long to wait for the response of another node. */
const RESPONSE_TIMEOUT_MS = 3000

/** The description of the routes that return these streams. */
export const captionsDescription =
  'Sends server-sent events: `caption` with `id`, `text`, `is_final`, `start`, `channel`, `language` and, with diarization, ' +
  '`speaker`; a later one of the same id replaces it. The last 50 come first. Partials come if the client of the session ' +
  'asked for them. `end` says that the session has ended. The server ends each stream after five minutes, and clients such ' +
  'as `EventSource` connect again. An extension.'

/** The responses of a route that watches a session. */
export const captionResponses = {
  200: {
    description: 'Captions, until the session, the client or the server ends the stream',
    content: { 'text/event-stream': { schema: Type.Unsafe<Readable>({ type: 'string' }) } },
  },
  ...errorResponses(404, 429),
}

/** Returns whether a job is a session that has not ended. */
export function isOpenSession({ kind, status }: Pick<Job, 'kind' | 'status'>): boolean {
  return kind === 'live' && (status === 'queued' || status === 'processing')
}

type StreamWatch = {
  request: FastifyRequest
  reply: FastifyReply
  /** Returns whether the viewer still has access; the stream ends once it returns false. */
  isAllowed: () => Promise<boolean>
}

/** Streams the captions of sessions to those who watch them, wherever the session runs. */
export class CaptionStreams {
  readonly #app: Pick<App, 'config' | 'live' | 'storage'>
  readonly #watcherCounts = new Map<string, number>()
  readonly #stopping = new AbortController()

  constructor(app: Pick<App, 'config' | 'live' | 'storage'>) {
    this.#app = app
  }

  /** Ends all streams, because the server stops. */
  close(): void {
    this.#stopping.abort()
  }

  /** Returns the captions of a session as the response to a request, whose headers it sets. */
  async open(job: Job, { request, reply, isAllowed }: StreamWatch): Promise<Readable> {
    reply
      .type('text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no')
      .header('x-content-type-options', 'nosniff')
    if (request.method === 'HEAD') return Readable.from([])
    const endWatch = this.#countWatcher(job.id)
    const disconnected = new AbortController()
    reply.raw.once('close', () => disconnected.abort())
    const signal = AbortSignal.any([
      ...[this.#stopping.signal, disconnected.signal],
      AbortSignal.timeout(MAX_STREAM_MS),
    ])
    const isForwarded = request.headers[FORWARDED_HEADER] !== undefined
    const otherServer = isForwarded
      ? undefined
      : await this.#requestOtherNode(job.id, request, signal).catch((error) => {
          endWatch()
          throw error
        })
    const stream = otherServer ?? Readable.from(this.#write(job, { signal, isAllowed }))
    stream.once('close', () => {
      disconnected.abort()
      endWatch()
    })
    return stream
  }

  /** Counts a watcher of a session until the returned function is called. */
  #countWatcher(jobId: string): () => void {
    const counts = this.#watcherCounts
    if ((counts.get(jobId) ?? 0) >= MAX_WATCHERS) {
      const detail = `${MAX_WATCHERS} watch the session already`
      throw new AppError('rate_limited', detail, { retryAfter: COMMENT_MS / 1000 })
    }
    addToCount(counts, jobId, 1)
    return () => addToCount(counts, jobId, -1)
  }

  async *#write(
    { id, account }: Job,
    { signal, isAllowed }: { signal: AbortSignal; isAllowed: () => Promise<boolean> },
  ): AsyncGenerator<string> {
    const { live, storage } = this.#app
    const isOpen = async () => {
      const job = await findJob(storage.db, { id, account })
      return job !== undefined && isOpenSession(job)
    }
    yield `retry: ${CHECK_INTERVAL_MS}\n\n`
    let quietSince = performance.now()
    while (!signal.aborted) {
      const step = readWithTicks(live.watch(id, signal), signal)
      for await (const caption of step) {
        if (caption) {
          yield `event: caption\ndata: ${JSON.stringify(caption)}\n\n`
          quietSince = performance.now()
          continue
        }
        if (!(await isAllowed())) return
        if (!live.runs(id)) {
          // Another node sends the captions once the client has connected again.
          if (await findNodeOfSession(storage.db, id)) return
          if (!(await isOpen())) break
        }
        if (performance.now() - quietSince < COMMENT_MS) continue
        yield ': quiet\n\n'
        quietSince = performance.now()
      }
      if (signal.aborted || !(await isAllowed())) return
      if (!(await isOpen())) {
        yield 'event: end\ndata: {}\n\n'
        return
      }
      await delay(CHECK_INTERVAL_MS, undefined, { signal }).catch(() => {})
    }
  }

  /**
   * Forwards the request to the node that runs the session, if it is another one; that node checks
   * the rights of the request itself.
   */
  async #requestOtherNode(
    jobId: string,
    { raw }: FastifyRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage | undefined> {
    const { config, live, storage } = this.#app
    if (live.runs(jobId)) return undefined
    const node = await findNodeOfSession(storage.db, jobId)
    if (!node) return undefined
    const target = targetAt(node.url, raw)
    const headers = forwardedHeaders(raw, clientAddressOf(raw, config.http))
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest
    const { promise, resolve } = Promise.withResolvers<IncomingMessage | undefined>()
    const forwardedRequest = send(target, { headers, agent: false, signal })
    const fail = () => {
      forwardedRequest.destroy()
      resolve(undefined)
    }
    const timeout = setTimeout(fail, RESPONSE_TIMEOUT_MS)
    forwardedRequest.on('error', fail)
    forwardedRequest.on('response', (response) => {
      clearTimeout(timeout)
      if (response.statusCode === 200) resolve(response)
      else fail()
    })
    forwardedRequest.end()
    return promise
  }
}

/** Yields captions as they arrive, and `undefined` whenever none has arrived for an interval. */
async function* readWithTicks(
  captions: AsyncGenerator<LiveCaption>,
  signal: AbortSignal,
): AsyncGenerator<LiveCaption | undefined> {
  try {
    let next = captions.next()
    while (!signal.aborted) {
      const read = new AbortController()
      const options = { signal: read.signal }
      const tick = delay(CHECK_INTERVAL_MS, undefined, options).catch(() => undefined)
      const first = await Promise.race([next, tick])
      read.abort()
      if (first?.done) return
      yield first?.value
      if (first) next = captions.next()
    }
  } finally {
    // Not awaited: it takes effect once the pending caption has arrived, or the signal aborts.
    void captions.return(undefined)
  }
}
