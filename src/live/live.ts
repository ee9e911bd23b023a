import { randomBytes, randomUUID } from 'node:crypto'
import { chooseLanguage, listedLanguages } from '../asr/languages.ts'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'
import { type Metrics, outcomeOf } from '../metrics.ts'
import {
  type CreateJob,
  createJobs,
  type Earlier,
  findRepeated,
  type IdempotencyKey,
} from '../storage/creation.ts'
import { liveFolder } from '../storage/data-folder.ts'
import { removeStaleLiveFiles } from '../storage/live-files.ts'
import {
  countOpenLiveJobs,
  failLiveJob,
  findLiveJobByToken,
  type LiveJob,
  listOpenLiveJobs,
} from '../storage/live-jobs.ts'
import { findLiveSession } from '../storage/live-sessions.ts'
import type { Storage } from '../storage/storage.ts'
import type { LiveText } from '../text/live/live-text.ts'
import type { Tracing } from '../tracing.ts'
import { AwaitedClients } from './awaited-clients.ts'
import type { Connection } from './connection.ts'
import { untilStored } from './ending.ts'
import { HeldSessions } from './held-sessions.ts'
import { endMessage, startMessage } from './lifecycle-messages.ts'
import { type LiveParams, textOf } from './live-params.ts'
import type { ConnectOptions } from './session.ts'

/** A session as it is asked for, after validation. */
export type LiveRequest = {
  /** `request_params` as the job shows them, after defaults. */
  params: Record<string, unknown>
  customMetadata: Record<string, unknown> | null
  /** With it, a request that comes twice makes one session. */
  idempotency?: IdempotencyKey | undefined
}

/** What the answer to a creation tells; the token is the client's right to connect. */
export type CreatedSession = { id: string; createdAt: number; token: string }

/** What the live service is built from. */
export type LiveOptions = {
  config: Pick<Config, 'live' | 'storage' | 'delivery' | 'addOnResults'>
  storage: Pick<Storage, 'db' | 'objects'>
  speech: SpeechEngine
  liveText: LiveText
  log: Log
  metrics?: Metrics | undefined
  tracing?: Tracing | undefined
  /** Called when something may have been queued for receivers. */
  onEvents?: () => void
}

/** 192 bits in letters of URLs. */
const TOKEN_BYTES = 24
/** What a refused client is told to wait when nothing is known about how long sessions last, and at most. */
const USUAL_WAIT = 10
const MAX_WAIT = 60

/**
 * The live service: makes sessions, hands clients to them, and takes up again those that an earlier
 * process had in hand.
 */
export class Live {
  readonly #options: LiveOptions
  readonly #log: Log
  readonly #folder: string
  readonly #create: CreateJob
  readonly #held: HeldSessions
  readonly #awaited: AwaitedClients
  readonly #closing = new AbortController()
  #creating: Promise<unknown> = Promise.resolve()

  constructor(options: LiveOptions) {
    this.#options = options
    this.#log = options.log.child({ room: 'live' })
    this.#folder = liveFolder(options.config.storage.folder)
    this.#create = createJobs(options.storage.db)
    this.#held = new HeldSessions({ ...options, log: this.#log, signal: this.#closing.signal })
    const timeoutMs = options.config.live.connectTimeout * 1000
    this.#awaited = new AwaitedClients({ timeoutMs, onLate: (id) => void this.#giveUp(id) })
  }

  /** Makes a session; once this resolves, it waits for its client whatever happens to the server. */
  async create(account: string, request: LiveRequest): Promise<CreatedSession> {
    if (this.#closing.signal.aborted) {
      throw new AppError('server_stopping', undefined, { retryAfter: 5 })
    }
    chooseLanguage(listedLanguages(request.params), this.#options.speech.languages)
    // One after the other: each has to know whether there is room, and whether it was there before.
    const created = this.#creating.then(() => this.#createNext(account, request))
    this.#creating = created.catch(() => {})
    return created
  }

  async #createNext(account: string, request: LiveRequest): Promise<CreatedSession> {
    const { config, storage } = this.#options
    const { params, customMetadata, idempotency } = request
    const repeated = idempotency && (await this.findRepeated(idempotency))
    if (repeated) return repeated
    await this.#checkRoom()
    const id = randomUUID()
    const session = {
      kind: 'live' as const,
      id,
      account,
      createdAt: Date.now(),
      params,
      customMetadata,
      channels: (params as LiveParams).channels,
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
      startMessage,
    }
    const maxQueued = config.live.maxPerAccount
    const creation = await this.#create(session, { maxQueued, idempotency })
    if (creation === 'refused') {
      const retryAfter = this.#secondsUntilRoom()
      throw new AppError('too_many_sessions', `${maxQueued} are open already`, { retryAfter })
    }
    if (creation !== 'created') return sameSession(storage, creation, idempotency!)
    this.#options.onEvents?.()
    this.#expect(session)
    return (await findLiveSession(storage.db, session.id))!
  }

  /**
   * Finds the session that an earlier request with this key made; fails with `idempotency_conflict` when
   * that one asked for something else.
   */
  async findRepeated(idempotency: IdempotencyKey): Promise<CreatedSession | undefined> {
    const { storage } = this.#options
    const earlier = await findRepeated(storage.db, idempotency, { now: Date.now() })
    return earlier && sameSession(storage, earlier, idempotency)
  }

  /**
   * Hands a client to the session of its token. Resolves to a close code of contract 5.11 when it cannot
   * be had.
   */
  async connect(token: string, options: ConnectOptions = {}): Promise<Connection | number> {
    const { config, storage } = this.#options
    const now = Date.now()
    const holder = await findLiveJobByToken(storage.db, token, {
      now,
      grace: config.live.tokenGrace,
    })
    if (!holder) return 4401
    if (!holder.job || holder.ended) return 4410
    if (this.#closing.signal.aborted) return 1012
    // From here on it is begun: nobody has to come any more for it to end.
    this.#awaited.remove(holder.job.id)
    const opened = await this.#held.hold(holder.job)
    if (opened === 'ended') return 4410
    return opened === 'unopened' ? 1011 : opened.session.connect(options)
  }

  /** Sessions that have not ended: `new` ones had no client yet, `disconnected` ones have none now. */
  get states(): { new: number; connected: number; disconnected: number } {
    const { size, connected } = this.#held
    return { new: this.#awaited.size, connected, disconnected: size - connected }
  }

  /** Takes up the sessions that an earlier process left, behind the start. */
  async start(): Promise<void> {
    const { db } = this.#options.storage
    const jobs = await listOpenLiveJobs(db)
    const begun = jobs.filter(({ status }) => status === 'processing')
    const left = begun.map(({ id }) => id)
    await removeStaleLiveFiles(this.#folder, left)
    for (const job of jobs) if (job.status === 'queued') this.#expect(job)
    if (left.length > 0) this.#log.info({ sessions: left.length }, 'taking up live sessions')
    for (const job of begun) void this.#held.hold(job)
  }

  /** Tells clients to come again, and lets go of all sessions: what has come is stored. */
  async drain(): Promise<void> {
    this.#closing.abort()
    this.#awaited.clear()
    await this.#held.leave()
  }

  /** Refuses when the machine carries as many sessions as it can. */
  async #checkRoom(): Promise<void> {
    const { config, speech, storage } = this.#options
    const { slots } = config.live
    const retryAfter = this.#secondsUntilRoom()
    // Some other start of it may: nobody can say when.
    if (!speech.live) {
      throw new AppError('live_unavailable', 'this server offers none', { retryAfter: MAX_WAIT })
    }
    // Sessions that wait for their client cost nothing; only a number that somebody set counts them.
    const open = slots === undefined ? this.#held.size : await countOpenLiveJobs(storage.db)
    const most = slots ?? speech.live.capacity ?? Number.POSITIVE_INFINITY
    if (open < most) return
    throw new AppError('live_unavailable', `it carries ${open} already`, { retryAfter })
  }

  #secondsUntilRoom(): number {
    const { size, usualSeconds } = this.#held
    if (usualSeconds === undefined) return USUAL_WAIT
    const seconds = usualSeconds / Math.max(1, size)
    return Math.ceil(Math.min(MAX_WAIT, Math.max(1, seconds)))
  }

  /** Somebody is to come. */
  #expect(session: Pick<LiveJob, 'id' | 'createdAt' | 'params'>): void {
    this.#awaited.add(session)
    this.#options.liveText.prepare(textOf(session.params as LiveParams))
  }

  /** Nobody came. */
  async #giveUp(id: string): Promise<void> {
    const { db } = this.#options.storage
    const { signal } = this.#closing
    const { message, status } = new AppError('session_not_connected')
    const failure = { code: status, message }
    const log = this.#log
    // A client that comes at this moment has it.
    const fail = () => failLiveJob(db, id, { failure, at: Date.now(), endMessage, only: 'queued' })
    try {
      const isGivenUp = await untilStored(fail, { signal, log, sessionId: id })
      if (!isGivenUp) return
      this.#options.onEvents?.()
      log.warn({ sessionId: id, ...failure }, 'live session ended with an error')
      this.#options.metrics?.jobsEnded.inc({ kind: 'live', outcome: outcomeOf(failure) })
    } catch {} // The server stops; the next one gives it up.
  }
}

async function sameSession(
  { db }: Pick<Storage, 'db'>,
  earlier: Earlier,
  { fingerprint }: IdempotencyKey,
): Promise<CreatedSession> {
  if (earlier.fingerprint !== fingerprint) throw new AppError('idempotency_conflict')
  const session = await findLiveSession(db, earlier.jobId)
  if (!session) throw new AppError('job_not_found', 'its session ended long ago')
  return session
}
