import { join } from 'node:path'
import { wallNow } from '../clock.ts'
import type { Config } from '../config/config.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../observability/log.ts'
import { outcomeOf } from '../observability/metrics.ts'
import { liveFolder, removeDeadCopies } from '../storage/data-folder/data-folder.ts'
import { listNodes } from '../storage/database/nodes/nodes.ts'
import { findActiveNodes, isOnlyNode } from '../storage/database/nodes/register-node.ts'
import type { IdempotencyKey } from '../storage/jobs/job-writer.ts'
import { findEndedJobs, findJob, type JobRef } from '../storage/jobs/jobs.ts'
import {
  listSessionFolders,
  removeStaleSessions,
  type SessionStatus,
} from '../storage/live/disk-session-store.ts'
import {
  failLiveJob,
  findLiveJobByToken,
  type LiveJob,
  listOpenLiveJobs,
  type TokenSession,
} from '../storage/live/live-jobs.ts'
import { deleteStaleBatches } from '../storage/live/session-batches.ts'
import { findSessionKeys } from '../storage/live/session-tokens.ts'
import type { Storage } from '../storage/storage.ts'
import { ABNORMAL_CLOSURE, closeCodes } from './connection/close-codes.ts'
import type { Connection, ConnectOptions } from './connection/connection.ts'
import type { LiveCaption } from './messages/caption-feed.ts'
import { endMessage } from './messages/lifecycle-messages.ts'
import { type LiveParams, requestOf, textSettingsOf } from './request/live-params.ts'
import type { CreatedSession, ParsedLiveRequest } from './request/live-request.ts'
import { requireModel } from './request/require-model.ts'
import { retryUntilStored } from './result/live-job-finisher.ts'
import { ActiveSessions, type ActiveSessionsOptions } from './sessions/active-sessions.ts'
import { Admission } from './sessions/admission.ts'
import { ConnectTimeouts } from './sessions/connect-timeouts.ts'
import { ForwardedClients } from './sessions/nodes/forwarded-clients.ts'
import {
  findFreeNode,
  findOwningNode,
  type PeerNode,
  type SessionNode,
} from './sessions/nodes/placement.ts'
import { ReconnectLimit } from './sessions/reconnect-limit.ts'
import { SessionCreation, TOKEN_CHARS } from './sessions/session-creation.ts'
import { createValidKeys, type ValidKeys } from './sessions/valid-keys.ts'

/** Options of the live service: those of its sessions, and what their creation needs. */
export type LiveServiceOptions = Omit<ActiveSessionsOptions, 'isOverFairShare' | 'signal'> & {
  config: Pick<Config, 'keys' | 'jobs' | 'node'>
  storage: Pick<Storage, 'space'> & Partial<Pick<Storage, 'orphans' | 'node'>>
}

/** Maximum concurrent token lookups: the database serves all other requests, too. */
const MAX_LOOKUPS = 100
/** How often the keys of open sessions are checked for revocation and expiry. */
const KEY_CHECK_MS = 5000
/** How often this node reports its number of sessions to others. */
const REPORT_MS = 1000
/** How often the service looks for sessions whose node has died. */
const RESUME_MS = 5000
/** Another node ends a session without a client this much later than its own node does. */
const EXTRA_CONNECT_MS = 15_000

/**
 * The live service: creates sessions, connects clients to them, and resumes those that an earlier
 * process was running.
 */
export class LiveService {
  readonly #options: LiveServiceOptions
  readonly #log: Log
  readonly #folder: string
  readonly #creation: SessionCreation
  readonly #active: ActiveSessions
  readonly #connectTimeouts: ConnectTimeouts
  readonly #closing = new AbortController()
  readonly #keys: ValidKeys
  /** Decides whether this process, or another node, can run one more session. */
  readonly admission: Admission
  readonly #reconnectLimit = new ReconnectLimit()
  /** The clients that were forwarded to other nodes. */
  readonly forwarded: ForwardedClients
  #lookups = 0
  #timers: NodeJS.Timeout[] = []

  constructor(options: LiveServiceOptions) {
    this.#options = options
    this.#log = options.log.child({ module: 'live' })
    this.#folder = liveFolder(options.config.storage.folder)
    this.#keys = createValidKeys(options.storage.db, options.config.keys)
    this.forwarded = new ForwardedClients({ db: options.storage.db, log: this.#log })
    this.admission = new Admission({ ...options, keys: this.#keys, active: () => this.#active })
    this.#creation = new SessionCreation({
      ...options,
      admission: this.admission,
      onCreated: (session) => this.#created(session),
    })
    const isOverFairShare = (account: string) => this.admission.isOverFairShare(account)
    const { signal } = this.#closing
    this.#active = new ActiveSessions({ ...options, log: this.#log, signal, isOverFairShare })
    const timeoutMs = options.config.live.connectTimeout * 1000
    this.#connectTimeouts = new ConnectTimeouts({
      timeoutMs,
      onTimeout: (id) => void this.#failUnconnected(id),
    })
  }

  /** Throws `language_not_installed` when no installed model knows the languages of a request. */
  requireModel({ params }: Pick<ParsedLiveRequest, 'params'>): void {
    requireModel(this.#options.speech, requestOf(params as LiveParams))
  }

  /** Returns warnings about the options of a request that its models cannot honor. */
  warningsOf({ params }: Pick<ParsedLiveRequest, 'params'>): readonly string[] {
    return this.#options.speech.selectModels(requestOf(params as LiveParams)).warnings
  }

  /**
   * Creates a session. Once this resolves, the session waits for its client, even across a restart
   * of the server.
   */
  async create(account: string, request: ParsedLiveRequest): Promise<CreatedSession> {
    if (this.#closing.signal.aborted) {
      throw new AppError('server_stopping', undefined, { retryAfter: 5 })
    }
    this.requireModel(request)
    return this.#creation.create(account, request)
  }

  /**
   * Finds the session that an earlier request with this key created; fails with
   * `idempotency_conflict` when that request differed.
   */
  findByIdempotencyKey(idempotency: IdempotencyKey): Promise<CreatedSession | undefined> {
    return this.#creation.findByIdempotencyKey(idempotency)
  }

  /**
   * Connects a client to the session of its token. Resolves to a close code of the API when that is
   * not possible, and to another node if the client has to connect there.
   */
  async connect(
    token: string,
    options: ConnectOptions = {},
  ): Promise<Connection | SessionNode | number> {
    // The database is not queried for strings that cannot be tokens, nor beyond the maximum of
    // concurrent lookups.
    if (token.length !== TOKEN_CHARS) return closeCodes.unauthorized
    if (this.#lookups >= MAX_LOOKUPS) return closeCodes.overloaded
    const tokenSession = await this.#findTokenSession(token)
    if (!tokenSession || (await this.#isKeyInvalid(tokenSession.keyHash)))
      return closeCodes.unauthorized
    if (!tokenSession.job || tokenSession.ended) return closeCodes.sessionEnded
    if (this.#closing.signal.aborted) return closeCodes.restart
    const { job } = tokenSession
    if (!this.#reconnectLimit.take(job)) return closeCodes.overloaded
    const otherNode = await this.#findNodeOf(tokenSession, options)
    if (otherNode) return { ...otherNode, jobId: job.id }
    if (this.admission.isShared && !this.admission.isOffered) return closeCodes.overloaded
    // Where live recognition is off, the session fails below instead of waiting for a place.
    const isFirst = this.admission.isOffered && job.status === 'queued'
    if (isFirst && (await this.admission.findRefusal(job.account))) return closeCodes.overloaded
    // The session has begun: from here on it can end without a client.
    this.#connectTimeouts.remove(tokenSession.job.id)
    const opened = await this.#active.open(tokenSession.job)
    if (opened === 'ended') return closeCodes.sessionEnded
    if (opened === 'elsewhere') return closeCodes.restart
    if (opened === 'unopened') return closeCodes.internalError
    return options.signal?.aborted ? ABNORMAL_CLOSURE : opened.session.connect(options)
  }

  /**
   * Ends a session that has not ended, as failed with 499. Fails with `job_ended` if it has. Audio
   * that this process has recorded is kept unless its files are broken; another node drops it when
   * it loses the lease.
   */
  async cancel(job: JobRef): Promise<void> {
    const { db } = this.#options.storage
    const { status: code, message } = new AppError('job_canceled')
    const failure = { code, message, reason: 'cancelled' } as const
    const storedJob = await findJob(db, job)
    if (!storedJob) throw new AppError('job_not_found')
    const isOpen = storedJob.status === 'queued' || storedJob.status === 'processing'
    if (isOpen) await this.#active.cancel(job.id, failure)
    if (isOpen && (await failLiveJob(db, job.id, { failure, at: wallNow(), endMessage }))) {
      this.#connectTimeouts.remove(job.id)
      this.#options.onEvents?.()
      this.#options.metrics?.jobsEnded.inc({ kind: 'live', outcome: outcomeOf(failure) })
    } else if (!isOpen || (await findJob(db, job))?.errorCode !== code) {
      throw new AppError('job_ended')
    }
    this.#log.info({ sessionId: job.id }, 'live session canceled')
  }

  /** Returns whether this process runs a session, or tries to. */
  runs(jobId: string): boolean {
    return this.#active.has(jobId)
  }

  /** Yields the captions of a session while it runs here, for a viewer. */
  watch(jobId: string, signal: AbortSignal): AsyncGenerator<LiveCaption> {
    return this.#active.watch(jobId, signal)
  }

  /**
   * Returns the node that a client of a session has to connect to: the one that runs it or, when
   * this one cannot, another that can.
   */
  async #findNodeOf(
    { job, owner }: TokenSession,
    { isForwarded = false, avoid }: ConnectOptions,
  ): Promise<PeerNode | undefined> {
    const { db } = this.#options.storage
    if (!this.admission.isShared || isForwarded || this.#active.has(job!.id)) return undefined
    const nodes = await listNodes(db)
    const placement = { self: db.nodeId, avoid }
    const running = findOwningNode(nodes, owner, placement)
    if (running) return running
    if (this.admission.isOffered && !(await this.admission.findRefusal(job!.account)))
      return undefined
    return findFreeNode(nodes, placement)
  }

  async #findTokenSession(token: string): Promise<TokenSession | undefined> {
    const { config, storage } = this.#options
    const { tokenGrace: grace } = config.live
    this.#lookups++
    try {
      return await findLiveJobByToken(storage.db, token, { now: wallNow(), grace })
    } finally {
      this.#lookups--
    }
  }

  /**
   * Sessions that have not ended: `new` ones never had a client, `disconnected` ones have none now.
   */
  get states(): { new: number; connected: number; disconnected: number } {
    const { size, connected } = this.#active
    return { new: this.#connectTimeouts.size, connected, disconnected: size - connected }
  }

  /** Resumes the sessions that an earlier process left, in the background of the start. */
  async start(): Promise<void> {
    const { db } = this.#options.storage
    const jobs = await listOpenLiveJobs(db)
    const begun = jobs.filter(({ status }) => status === 'processing')
    const begunIds = begun.map(({ id }) => id)
    // Another process takes care of its own folders.
    if (await isOnlyNode(db)) await this.#cleanFolders(begunIds)
    const every = (ms: number, run: () => Promise<void>) => {
      this.#timers.push(setInterval(() => void run(), ms).unref())
    }
    every(KEY_CHECK_MS, () => this.endRevoked())
    if (this.admission.isShared) {
      await deleteStaleBatches(db)
      await removeDeadCopies(this.#options.config.storage.folder, (await findActiveNodes(db)).ids)
      await this.#report()
      every(REPORT_MS, () => this.#report())
      if (!this.admission.isOffered) return
      every(RESUME_MS, () => this.resumeAbandoned())
    }
    for (const job of jobs) if (job.status === 'queued') this.#awaitFirstClient(job)
    if (begunIds.length > 0) this.#log.info({ sessions: begunIds.length }, 'resuming live sessions')
    for (const job of begun) void this.#active.open(job, { onlyIfFree: this.admission.isShared })
  }

  /** Reports the number of sessions of this node to others, if it has changed. */
  async #report(): Promise<void> {
    const { capacity } = this.admission
    if (!capacity) return
    const live = { capacity: capacity.total, load: capacity.used, sessions: this.#active.size }
    await this.#options.storage.node?.report({ live })
  }

  /** Resumes the sessions whose node has died, as far as there is capacity. */
  async resumeAbandoned(): Promise<void> {
    const { config, storage } = this.#options
    try {
      for (const job of await listOpenLiveJobs(storage.db)) {
        if (this.#closing.signal.aborted) return
        const age = wallNow() - job.createdAt
        if (job.status === 'queued') {
          if (age > config.live.connectTimeout * 1000 + EXTRA_CONNECT_MS)
            await this.#failUnconnected(job.id)
        } else if (!this.#active.has(job.id) && !(await this.admission.findRefusal(job.account))) {
          this.#log.info({ sessionId: job.id }, 'resuming a live session')
          void this.#active.open(job, { onlyIfFree: true })
        }
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'cannot look up live sessions of dead nodes')
    }
  }

  /** Ends the sessions whose key was revoked or has expired; what arrived before is kept. */
  async endRevoked(): Promise<void> {
    const { sessions } = this.#active
    if (sessions.size === 0) return
    try {
      const keys = await findSessionKeys(this.#options.storage.db, [...sessions.keys()])
      const invalid = await this.#keys.findInvalid([...new Set(keys.values())])
      for (const [sessionId, hash] of keys) {
        if (!invalid.has(hash)) continue
        this.#log.info(
          { sessionId },
          'the key of a live session was revoked or has expired: ending it',
        )
        sessions.get(sessionId)!.revoke()
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'cannot look up the keys of live sessions')
    }
  }

  /** Renews the leases of the open sessions; those that another node has taken stop. */
  renewLeases(): Promise<void> {
    return this.#active.renewLeases()
  }

  async #isKeyInvalid(hash: string | null): Promise<boolean> {
    return hash !== null && (await this.#keys.findInvalid([hash])).size > 0
  }

  /** Reconciles the session folders with their jobs. */
  async #cleanFolders(open: readonly string[]): Promise<void> {
    const { db, orphans } = this.#options.storage
    for (const id of open) await orphans?.restoreSession(join(this.#folder, id))
    const ended = await findEndedJobs(db, await listSessionFolders(this.#folder))
    const statuses = new Map<string, SessionStatus>(ended.map((id) => [id, 'ended']))
    for (const id of open) statuses.set(id, 'open')
    await removeStaleSessions(this.#folder, statuses, orphans)
  }

  /** Disconnects clients and suspends all sessions; what has arrived is stored. */
  async drain(): Promise<void> {
    this.#closing.abort()
    for (const timer of this.#timers) clearInterval(timer)
    await this.#options.storage.node?.report({ isDraining: true })
    this.#connectTimeouts.close()
    this.forwarded.clear()
    await this.#active.suspendAll()
  }

  #created(session: Pick<LiveJob, 'id' | 'createdAt' | 'params'>): void {
    this.#options.onEvents?.()
    this.#awaitFirstClient(session)
  }

  /**
   * Starts the timeout for the first client of a session, and the threads that its add-ons need.
   */
  #awaitFirstClient(session: Pick<LiveJob, 'id' | 'createdAt' | 'params'>): void {
    this.#connectTimeouts.add(session)
    const { liveText, speech } = this.#options
    liveText.prepare(textSettingsOf(session.params as LiveParams, speech.languages))
  }

  /** Ends a session to which no client has connected. */
  async #failUnconnected(id: string): Promise<void> {
    const { storage, config } = this.#options
    const { signal } = this.#closing
    const detail = `none came within ${config.live.connectTimeout} s (STENO_LIVE_CONNECT_TIMEOUT_S)`
    const { message, status } = new AppError('session_not_connected', detail)
    const failure = { code: status, message }
    const log = this.#log
    // A client that connects at this moment wins.
    const fail = () =>
      failLiveJob(storage.db, id, { failure, at: wallNow(), endMessage, only: 'queued' })
    try {
      const hasFailed = await retryUntilStored(fail, { signal, log, sessionId: id })
      if (!hasFailed) return
      this.#options.onEvents?.()
      log.warn({ sessionId: id, ...failure }, 'live session ended with an error')
      this.#options.metrics?.jobsEnded.inc({ kind: 'live', outcome: outcomeOf(failure) })
    } catch {} // The server stops; the next process ends the session.
  }
}
