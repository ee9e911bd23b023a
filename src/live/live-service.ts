import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { chooseLanguage, listedLanguages } from '../asr/languages.ts'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'
import { type Metrics, outcomeOf } from '../metrics.ts'
import { liveFolder } from '../storage/data-folder.ts'
import {
  type CreateJob,
  createJobWriter,
  type Earlier,
  findRepeated,
  type IdempotencyKey,
} from '../storage/jobs/create-job.ts'
import { findEndedJobs } from '../storage/jobs/jobs.ts'
import {
  listLiveFiles,
  removeStaleLiveFiles,
  type SessionFate,
} from '../storage/live/live-files.ts'
import {
  failLiveJob,
  findLiveJobByToken,
  type LiveJob,
  listOpenLiveJobs,
  type TokenHolder,
} from '../storage/live/live-jobs.ts'
import { findLiveSession, findSessionKeys } from '../storage/live/live-sessions.ts'
import type { Storage } from '../storage/storage.ts'
import type { LiveText } from '../text/live/live-text.ts'
import type { Tracing } from '../tracing.ts'
import type { Connection } from './connection.ts'
import { type LiveParams, textOf } from './live-params.ts'
import { endMessage, startMessage } from './messages/lifecycle-messages.ts'
import { untilStored } from './result/finish-live-job.ts'
import type { ConnectOptions } from './session.ts'
import { ActiveSessions } from './sessions/active-sessions.ts'
import { accountsOver, findRefusal, type Refusal } from './sessions/capacity-shares.ts'
import { ConnectTimeouts } from './sessions/connect-timeouts.ts'
import { ReconnectLimit } from './sessions/reconnect-limit.ts'
import { createValidKeys, type ValidKeys } from './sessions/valid-keys.ts'

/** A session as it is asked for, after validation. */
export type LiveRequest = {
  /** `request_params` as the job shows them, after defaults. */
  params: Record<string, unknown>
  /** Their JSON text, where it is written already; `params` may then lack the rest of long lists. */
  paramsText?: string | undefined
  customMetadata: Record<string, unknown> | null
  /** The hash of the key that asks: the session ends with that. */
  keyHash?: string | undefined
  /** With it, a request that comes twice makes one session. */
  idempotency?: IdempotencyKey | undefined
}

/** What the answer to a creation tells; the token is the client's right to connect. */
export type CreatedSession = { id: string; createdAt: number; token: string }

/** What the live service is built from. */
export type LiveServiceOptions = {
  config: Pick<Config, 'keys' | 'live' | 'storage' | 'delivery' | 'addOnResults'>
  storage: Pick<Storage, 'db' | 'objects' | 'space'> & Partial<Pick<Storage, 'orphans'>>
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
const TOKEN_LETTERS = 32
/** Tokens that are looked up at once: the store answers all other requests, too. */
const MAX_LOOKUPS = 100
/** What a refused client is told to wait when nothing is known about how long sessions last, and at most. */
const USUAL_WAIT = 10
const MAX_WAIT = 60
/** The measured number leaves a quarter of the processor free; the first session of an account may have it. */
const RESERVE = 0.25
/** So often it is looked whether the keys of open sessions are still there. */
const KEY_CHECK_MS = 5000
/** Who has more than its share is looked at anew after this time. */
const SHARE_CHECK_MS = 1000

/**
 * The live service: makes sessions, hands clients to them, and takes up again those that an earlier
 * process had in hand.
 */
export class LiveService {
  readonly #options: LiveServiceOptions
  readonly #log: Log
  readonly #folder: string
  readonly #create: CreateJob
  readonly #held: ActiveSessions
  readonly #awaited: ConnectTimeouts
  readonly #closing = new AbortController()
  readonly #keys: ValidKeys
  readonly #comings = new ReconnectLimit()
  #lookups = 0
  #keyCheck: NodeJS.Timeout | undefined
  #over: { at: number; accounts: Set<string> } = {
    at: Number.NEGATIVE_INFINITY,
    accounts: new Set(),
  }
  #creating: Promise<unknown> = Promise.resolve()

  constructor(options: LiveServiceOptions) {
    this.#options = options
    this.#log = options.log.child({ room: 'live' })
    this.#folder = liveFolder(options.config.storage.folder)
    this.#create = createJobWriter(options.storage.db)
    this.#keys = createValidKeys(options.storage.db, options.config.keys)
    const isOverShare = (account: string) => this.#isOverShare(account)
    const { signal } = this.#closing
    this.#held = new ActiveSessions({ ...options, log: this.#log, signal, isOverShare })
    const timeoutMs = options.config.live.connectTimeout * 1000
    this.#awaited = new ConnectTimeouts({ timeoutMs, onLate: (id) => void this.#giveUp(id) })
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
    const { params, paramsText, customMetadata, idempotency, keyHash } = request
    const repeated = idempotency && (await this.findRepeated(idempotency))
    if (repeated) return repeated
    await this.#checkRoom(account)
    await storage.space.admit(account)
    const id = randomUUID()
    const session = {
      kind: 'live' as const,
      id,
      account,
      createdAt: Date.now(),
      params,
      paramsText,
      customMetadata,
      channels: (params as LiveParams).channels,
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
      keyHash,
      startMessage,
    }
    const maxQueued = config.live.maxPerAccount
    const creation = await this.#create(session, { maxQueued, idempotency })
    if (creation === 'refused') {
      const retryAfter = this.#secondsUntilRoom()
      const detail = `${maxQueued} are open already (STENO_MAX_LIVE_SESSIONS)`
      throw new AppError('too_many_sessions', detail, { retryAfter })
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
    // Of what can be no token, or of too many at once, the store is not asked.
    if (token.length !== TOKEN_LETTERS) return 4401
    if (this.#lookups >= MAX_LOOKUPS) return 1013
    const holder = await this.#findHolder(token)
    if (!holder || (await this.#isKeyGone(holder.keyHash))) return 4401
    if (!holder.job || holder.ended) return 4410
    if (this.#closing.signal.aborted) return 1012
    const { job } = holder
    if (!this.#comings.take(job)) return 1013
    if (job.status === 'queued' && (await this.#findRefusal(job.account))) return 1013
    // From here on it is begun: nobody has to come any more for it to end.
    this.#awaited.remove(holder.job.id)
    const opened = await this.#held.hold(holder.job)
    if (opened === 'ended') return 4410
    return opened === 'unopened' ? 1011 : opened.session.connect(options)
  }

  async #findHolder(token: string): Promise<TokenHolder | undefined> {
    const { config, storage } = this.#options
    const { tokenGrace: grace } = config.live
    this.#lookups++
    try {
      return await findLiveJobByToken(storage.db, token, { now: Date.now(), grace })
    } finally {
      this.#lookups--
    }
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
    await this.#tidyFolders(left)
    for (const job of jobs) if (job.status === 'queued') this.#expect(job)
    if (left.length > 0) this.#log.info({ sessions: left.length }, 'taking up live sessions')
    for (const job of begun) void this.#held.hold(job)
    this.#keyCheck = setInterval(() => void this.endRevoked(), KEY_CHECK_MS).unref()
  }

  /** Ends the sessions whose key was revoked or has expired; what came before is kept. */
  async endRevoked(): Promise<void> {
    const { sessions } = this.#held
    if (sessions.size === 0) return
    try {
      const keys = await findSessionKeys(this.#options.storage.db, [...sessions.keys()])
      const gone = await this.#keys.findGone([...new Set(keys.values())])
      for (const [sessionId, hash] of keys) {
        if (!gone.has(hash)) continue
        this.#log.info({ sessionId }, 'the key of a live session is gone: it ends')
        sessions.get(sessionId)!.revoke()
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'cannot look up the keys of live sessions')
    }
  }

  async #isKeyGone(hash: string | null): Promise<boolean> {
    return hash !== null && (await this.#keys.findGone([hash])).size > 0
  }

  /** Brings the folders of sessions in line with their jobs. */
  async #tidyFolders(open: readonly string[]): Promise<void> {
    const { db, orphans } = this.#options.storage
    for (const id of open) await orphans?.takeSessionBack(join(this.#folder, id))
    const ended = await findEndedJobs(db, await listLiveFiles(this.#folder))
    const fates = new Map<string, SessionFate>(ended.map((id) => [id, 'ended']))
    for (const id of open) fates.set(id, 'open')
    await removeStaleLiveFiles(this.#folder, fates, orphans)
  }

  /** Tells clients to come again, and lets go of all sessions: what has come is stored. */
  async drain(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#keyCheck)
    this.#awaited.clear()
    await this.#held.leave()
  }

  /** Refuses when the machine carries as many sessions as it can, or the account has its share of them. */
  async #checkRoom(account: string): Promise<void> {
    const { speech } = this.#options
    // Some other start of it may: nobody can say when.
    if (!speech.live) {
      throw new AppError('live_unavailable', 'this server offers none', { retryAfter: MAX_WAIT })
    }
    const refusal = await this.#findRefusal(account)
    if (!refusal) return
    const retryAfter = this.#secondsUntilRoom()
    const [own, total, share] = [refusal.own, refusal.total, refusal.share].map(Math.round)
    if (refusal.reason === 'full') {
      const detail = `it carries ${total} of ${Math.round(this.#most)} already (STENO_LIVE_SLOTS)`
      throw new AppError('live_unavailable', detail, { retryAfter })
    }
    const detail = `the account has ${own} of the ${share} that are its share of this machine (STENO_LIVE_SLOTS)`
    throw new AppError('too_many_sessions', detail, { retryAfter })
  }

  /** Sessions that the machine carries. */
  get #most(): number {
    const { config, speech } = this.#options
    return config.live.slots ?? speech.live?.capacity ?? Number.POSITIVE_INFINITY
  }

  /** What sessions take; of a number that somebody set each takes one, of a measured one what it needs. */
  get #loads() {
    const { loads } = this.#held
    if (this.#options.config.live.slots === undefined) return loads
    return loads.map((load) => ({ ...load, weight: 1 }))
  }

  /** Why no session of an account fits now; those that wait for their first client take nothing. */
  async #findRefusal(account: string): Promise<Refusal | undefined> {
    const isAlone = await this.#keys.isAlone(account)
    const reserve = this.#options.config.live.slots === undefined ? RESERVE : 0
    return findRefusal({ account, loads: this.#loads, most: this.#most, isAlone, reserve })
  }

  #isOverShare(account: string): boolean {
    const at = performance.now()
    if (at > this.#over.at + SHARE_CHECK_MS) {
      this.#over = { at, accounts: accountsOver(this.#loads, this.#most) }
    }
    return this.#over.accounts.has(account)
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
