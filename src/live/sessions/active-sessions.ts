import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LiveEngine } from '../../asr/live-engine/live-engine.ts'
import type { SpeechEngine } from '../../asr/speech-engine.ts'
import { wallNow } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { noTracing, type TraceSpan, type Tracing } from '../../observability/tracing.ts'
import type { JobFailure } from '../../storage/jobs/finish-job.ts'
import { findEndedJobs } from '../../storage/jobs/jobs.ts'
import type { Lease } from '../../storage/jobs/queue/lease.ts'
import type { DiskSessionStore } from '../../storage/live/disk-session-store.ts'
import {
  beginLiveJob,
  findLiveOwner,
  type LiveJob,
  releaseLiveJob,
} from '../../storage/live/live-jobs.ts'
import { createSessionStores, type SessionStores } from '../../storage/live/session-stores.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LiveText } from '../../text/live/live-text.ts'
import type { SessionText } from '../../text/live/session-text.ts'
import type { Services } from '../../text/service-add-ons/service-add-on.ts'
import type { CallbackFeed } from '../callbacks/callback-feed.ts'
import { createCallbackFeedOpener, type OpenCallbackFeed } from '../callbacks/callback-feeds.ts'
import { audioAfter } from '../journal/log-records.ts'
import { type RecoveredSession, recoverSession } from '../journal/session-recovery.ts'
import { CaptionFeed, type LiveCaption } from '../messages/caption-feed.ts'
import { addOnGroups, textParams } from '../messages/realtime-add-ons.ts'
import { routingOf } from '../messages/server-messages.ts'
import { createSessionServices } from '../messages/session-services.ts'
import { type SessionUnreadBytes, UnreadBytes, unreadLimits } from '../messages/unread-bytes.ts'
import { type LiveParams, textSettingsOf } from '../request/live-params.ts'
import { LiveJobFinisher } from '../result/live-job-finisher.ts'
import { LiveSession, type SessionEnd } from '../session.ts'
import type { Load } from './capacity-shares.ts'
import { failSession } from './fail-session.ts'
import { type HeldLease, LiveLeases } from './live-leases.ts'
import { createSessionMetrics } from './session-metrics.ts'

/** Options of the active sessions. */
export type ActiveSessionsOptions = {
  config: Pick<Config, 'live' | 'storage' | 'delivery' | 'addOnResults' | 'models'>
  storage: Pick<Storage, 'db' | 'objects'>
  speech: SpeechEngine
  liveText: LiveText
  /** Services of add-ons, such as a language model; absent where none is configured. */
  services?: Services | undefined
  log: Log
  metrics?: Metrics | undefined
  tracing?: Tracing | undefined
  /** Called when something may have been queued for receivers. */
  onEvents?: () => void
  /** Called when the client of a session has received the whole result. */
  onResultDelivered?: (job: Pick<LiveJob, 'id' | 'account'>) => Promise<void>
  /** Returns whether an account exceeds its share of an overloaded machine. */
  isOverFairShare?: ((account: string) => boolean) | undefined
  /** Aborted when the server stops: then nothing is retried. */
  signal: AbortSignal
}

/** Opening a session is retried after this time, then after twice as long, and so on. */
const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 30_000
/** Sessions are suspended over this time at most: all their clients reconnect at once. */
const SUSPEND_ALL_MS = 2000
const SUSPEND_STEP_MS = 50

/** A session and its end, which never rejects. */
export type SessionHandle = { session: LiveSession; ended: Promise<SessionEnd> }

/**
 * The outcome of opening a session: its handle, or `ended` if its job has ended, `elsewhere` if
 * another node runs it, `unopened` after a failure; a retry follows.
 */
export type OpenResult = SessionHandle | 'ended' | 'elsewhere' | 'unopened'

/** With `onlyIfFree`, a session that another node runs is not taken over. */
export type OpenSessionOptions = { onlyIfFree?: boolean }

type RunningSession = {
  lease: Lease
  session: LiveSession
  finisher: LiveJobFinisher
  feed: CallbackFeed | undefined
  text: SessionText
  store: DiskSessionStore
  heldLease: HeldLease
  span: TraceSpan
  unread: SessionUnreadBytes
}

/**
 * The sessions that this process runs, each until it has ended. Opening a session is retried, and a
 * session whose disk failed resumes from its files; a session that is still open when the server
 * stops waits for the next process.
 */
export class ActiveSessions {
  readonly #options: ActiveSessionsOptions
  readonly #log: Log
  readonly #sessionStores: SessionStores
  /** By job id, until the session has ended: the outcome of the last attempt to open it. */
  readonly #opened = new Map<string, Promise<OpenResult>>()
  readonly #running = new Set<LiveSession>()
  /** By job id: the sessions that count for the capacity, without `session` until it is open. */
  readonly #loads = new Map<string, { account: string; session?: LiveSession }>()
  readonly #captions = new Map<string, CaptionFeed>()
  readonly #openFeed: OpenCallbackFeed
  readonly #unread: UnreadBytes
  readonly #leases: LiveLeases
  #meanSeconds: number | undefined

  constructor(options: ActiveSessionsOptions) {
    this.#options = options
    this.#log = options.log
    const { storage, config } = options
    this.#sessionStores = createSessionStores(storage.db, config.storage.folder)
    this.#openFeed = createCallbackFeedOpener(options)
    this.#leases = new LiveLeases({ db: options.storage.db, log: options.log })
    this.#unread = new UnreadBytes(unreadLimits(config.live.maxQueuedBytes))
  }

  /** The number of sessions. */
  get size(): number {
    return this.#opened.size
  }

  /** The loads of the sessions; one that is being opened counts as continuous speech. */
  get loads(): Load[] {
    return [...this.#loads.values()].map(({ account, session }) => {
      return { account, weight: session?.weight ?? 1 }
    })
  }

  /** The open sessions by the id of their job. */
  get sessions(): Map<string, LiveSession> {
    const opened = [...this.#loads].filter(([, { session }]) => session)
    return new Map(opened.map(([id, { session }]) => [id, session!]))
  }

  /** Yields the captions of a session for a watcher; the session may start here later. */
  async *watch(jobId: string, signal: AbortSignal): AsyncGenerator<LiveCaption> {
    const feed = this.#captions.get(jobId) ?? new CaptionFeed()
    this.#captions.set(jobId, feed)
    try {
      yield* feed.watch(signal)
    } finally {
      const isCurrent = this.#captions.get(jobId) === feed
      if (isCurrent && !feed.isWatched && !this.#opened.has(jobId)) this.#captions.delete(jobId)
    }
  }

  /** The number of sessions with a connected client. */
  get connected(): number {
    return [...this.#running].filter(({ isConnected }) => isConnected).length
  }

  /** The usual length of a session in seconds, by recent ones; undefined until one has ended. */
  get meanSeconds(): number | undefined {
    return this.#meanSeconds
  }

  /** Runs a session, unless it is already running; see `OpenResult`. */
  open(job: LiveJob, options: OpenSessionOptions = {}): Promise<OpenResult> {
    if (!this.#opened.has(job.id)) void this.#runUntilEnded(job, options)
    return this.#opened.get(job.id)!
  }

  /** Returns whether this process runs a session, or tries to. */
  has(jobId: string): boolean {
    return this.#opened.has(jobId)
  }

  /** Cancels a session that runs here; resolves when it has ended. */
  async cancel(jobId: string, failure: JobFailure): Promise<void> {
    const opened = await this.#opened.get(jobId)
    if (opened === undefined || typeof opened === 'string') return
    opened.session.cancel(failure)
    await opened.ended
  }

  /** Renews the leases of all sessions; those that another node has taken stop. */
  renewLeases(): Promise<void> {
    return this.#leases.renew()
  }

  /** Disconnects clients and suspends all sessions; what has arrived is stored. */
  async suspendAll(): Promise<void> {
    const openedSessions = await Promise.all(this.#opened.values())
    const step = Math.min(SUSPEND_STEP_MS, SUSPEND_ALL_MS / Math.max(1, openedSessions.length))
    const suspending = openedSessions.map(async (openedSession, i) => {
      if (typeof openedSession === 'string') return
      await delay(i * step)
      await openedSession.session.suspend()
      await openedSession.ended
    })
    await Promise.all(suspending)
  }

  async #runUntilEnded(job: LiveJob, { onlyIfFree = false }: OpenSessionOptions): Promise<void> {
    const { signal } = this.#options
    let pause = FIRST_PAUSE_MS
    let isRetry = false
    this.#loads.set(job.id, { account: job.account })
    try {
      do {
        const opening = this.#tryToStart(job, { onlyIfFree: onlyIfFree || isRetry })
        isRetry = true
        this.#opened.set(job.id, opening)
        const opened = await opening
        if (opened === 'ended' || opened === 'elsewhere') return
        if (opened !== 'unopened') {
          if ((await opened.ended) !== 'suspended') return
          pause = FIRST_PAUSE_MS
        }
        await delay(pause, undefined, { signal })
        pause = Math.min(pause * 2, MAX_PAUSE_MS)
      } while (!signal.aborted)
    } catch {
      // The server stops.
    } finally {
      this.#opened.delete(job.id)
      this.#loads.delete(job.id)
      this.#captions.get(job.id)?.end()
      this.#captions.delete(job.id)
    }
  }

  async #tryToStart(job: LiveJob, options: OpenSessionOptions): Promise<OpenResult> {
    try {
      return await this.#claim(job, options)
    } catch (error) {
      this.#log.error({ err: error, sessionId: job.id }, 'cannot resume a live session')
      return 'unopened'
    }
  }

  async #claim(
    job: LiveJob,
    { onlyIfFree = false }: OpenSessionOptions,
  ): Promise<SessionHandle | 'ended' | 'elsewhere'> {
    const { speech, storage } = this.#options
    const { db } = storage
    const claim = { owner: db.nodeId, onlyIfFree }
    const take = () => beginLiveJob(db, job.id, { ...claim, at: wallNow() })
    if (!speech.live) {
      const environment = { ...this.#options, log: this.#log, take, openFeed: this.#openFeed }
      await failSession(environment, { job, sessionStores: this.#sessionStores })
      return 'ended'
    }
    const lease = await take()
    if (!lease && onlyIfFree && (await findLiveOwner(db, job.id))) return 'elsewhere'
    if (!lease) {
      // It may have ended, for example by a cancellation, while it could not be opened.
      await this.#sessionStores.remove(job.id)
      return 'ended'
    }
    this.#options.onEvents?.()
    return this.#start(job, { lease, engine: speech.live })
  }

  /** Starts a session under its lease, or restarts one from its files. */
  async #start(
    job: LiveJob,
    { lease, engine }: { lease: Lease; engine: LiveEngine },
  ): Promise<SessionHandle> {
    const { liveText, storage, metrics, tracing = noTracing, signal } = this.#options
    const heldLease = this.#leases.hold(lease)
    const unread = this.#unread.open(job.account)
    let [store, text]: [DiskSessionStore?, SessionText?] = []
    try {
      const opened = await this.#sessionStores.open(lease, { audioAfter, onTaken: heldLease.lose })
      store = opened.store
      const params = job.params as LiveParams
      const earlier = opened.isNew ? undefined : await this.#recover(store, params)
      const feed = await this.#openFeed({ job, lease, store })
      const ended = { job, lease, store, feed }
      const finisher = new LiveJobFinisher({ storage, log: this.#log, metrics, signal }, ended)
      text = liveText.open({
        id: job.id,
        account: job.account,
        ...textSettingsOf(params, this.#options.speech.languages),
      })
      const span = tracing.start('live session', { 'steno.session.id': job.id })
      const captions = this.#captions.get(job.id) ?? new CaptionFeed()
      this.#captions.set(job.id, captions)
      const session = new LiveSession({
        ...this.#sessionOptions(job, engine),
        store,
        unread,
        text,
        earlier,
        feed,
        captions,
        lost: heldLease.lost,
        audioFile: { path: store.audioPath, start: store.audioStart },
        // Its client learns of the end at once, and may open the next session.
        finish: async (outcome, signal) => {
          heldLease.end()
          await finisher.finish(outcome, signal)
          this.#loads.delete(job.id)
        },
        fail: async (failure) => {
          heldLease.end()
          await finisher.fail(failure)
          this.#loads.delete(job.id)
        },
        metrics: createSessionMetrics(span, metrics),
      })
      feed?.wake()
      const components = { lease, session, finisher, feed, text, store, heldLease, span, unread }
      return { session, ended: this.#runToEnd(job, components) }
    } catch (error) {
      heldLease.release()
      unread.close()
      await text?.close()
      await store?.close()
      throw error
    }
  }

  /** Returns the options that do not depend on what is opened for a session. */
  #sessionOptions(job: LiveJob, engine: LiveEngine) {
    const { config, speech, services, isOverFairShare, onResultDelivered } = this.#options
    const { id, account, createdAt } = job
    const params = job.params as LiveParams
    const serviceSession = { id, account, params: textParams(params) }
    const folder = this.#sessionStores.folderOf(id)
    return {
      id,
      account,
      createdAt,
      params,
      engine,
      speech,
      services: services && createSessionServices(services, serviceSession),
      channelPaths: Array.from({ length: params.channels }, (_, i) => join(folder, `channel-${i}`)),
      onResultDelivered: () => void onResultDelivered?.({ id, account }),
      isOverFairShare: () => isOverFairShare?.(account) ?? false,
      requestWarnings: job.requestWarnings,
      resultFormat: config.addOnResults,
      namesModels: config.models.inResults,
      config: config.live,
      log: this.#log.child({ account }),
    }
  }

  #recover(store: DiskSessionStore, params: LiveParams): Promise<RecoveredSession> {
    const { resumeDedupe, maxQueuedMessages, maxQueuedBytes } = this.#options.config.live
    return recoverSession(store, {
      routing: routingOf(params),
      addOnGroups: addOnGroups(params, { hasServices: this.#options.services !== undefined }),
      keepSeconds: resumeDedupe,
      maxMissed: maxQueuedMessages,
      maxMissedBytes: maxQueuedBytes,
    })
  }

  /** Runs a session to its end, and cleans up after it. */
  async #runToEnd(
    job: LiveJob,
    { lease, session, finisher, feed, text, store, heldLease, span, unread }: RunningSession,
  ): Promise<SessionEnd> {
    let end: SessionEnd = 'suspended'
    this.#running.add(session)
    this.#loads.set(job.id, { account: job.account, session })
    try {
      end = await session.run()
    } catch (error) {
      this.#log.error({ err: error, sessionId: job.id }, 'cannot end a live session')
    }
    this.#options.onEvents?.()
    this.#running.delete(session)
    heldLease.release()
    unread.close()
    span.set({ 'steno.session.end': end })
    span.end(end === 'failed' ? new AppError('internal') : undefined)
    try {
      await text.close()
      await feed?.close()
      await store.close()
      const { signal, storage } = this.#options
      // A lease is also lost when another node cancels the session.
      const isCanceled =
        end === 'lease_lost' && (await findEndedJobs(storage.db, [job.id])).length > 0
      const isOver = end === 'done' || end === 'failed' || isCanceled
      if (isOver && !finisher.isLost) await store.delete()
      // Clients of a server that stops reconnect to another one at once.
      if (end === 'suspended' && signal.aborted) await releaseLiveJob(storage.db, lease)
    } catch (error) {
      this.#log.error({ err: error, sessionId: job.id }, 'cannot clean up after a live session')
    }
    if (end === 'suspended' || end === 'lease_lost') return end
    const seconds = (wallNow() - job.createdAt) / 1000
    this.#meanSeconds = ((this.#meanSeconds ?? seconds) * 3 + seconds) / 4
    return end
  }
}
