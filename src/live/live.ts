import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chooseLanguage, listedLanguages } from '../asr/languages.ts'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import { wavHeader } from '../audio/wav-header.ts'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'
import {
  type CreateJob,
  createJobs,
  type Earlier,
  findRepeated,
  type IdempotencyKey,
} from '../storage/creation.ts'
import { liveFolder } from '../storage/data-folder.ts'
import type { Lease } from '../storage/lease.ts'
import {
  createLiveFiles,
  keepRecording,
  type LiveFiles,
  openLiveFiles,
  removeLiveFiles,
  removeStaleLiveFiles,
} from '../storage/live-files.ts'
import {
  beginLiveJob,
  countOpenLiveJobs,
  failLiveJob,
  findLiveJobByToken,
  finishLiveJob,
  type LiveJob,
  listOpenLiveJobs,
} from '../storage/live-jobs.ts'
import { findLiveSession } from '../storage/live-sessions.ts'
import { dropResult, storeResultText } from '../storage/results.ts'
import type { Storage } from '../storage/storage.ts'
import type { Outcome } from './closing.ts'
import type { Connection } from './connection.ts'
import { readEarlier } from './earlier-session.ts'
import type { LiveParams } from './live-params.ts'
import { routingOf } from './messages.ts'
import { LiveSession } from './session.ts'
import { soundAfter } from './session-log.ts'

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
  config: Pick<Config, 'live' | 'storage'>
  storage: Pick<Storage, 'db' | 'objects'>
  speech: SpeechEngine
  log: Log
}

/** 192 bits in letters of URLs. */
const TOKEN_BYTES = 24
/** Sessions that leave are told one by one, over this time at most: all of them come back at once. */
const LEAVE_MS = 2000
const LEAVE_STEP_MS = 50
/** What could not be stored is tried again after this time. */
const RETRY_MS = 2000
/** What a refused client is told to wait when nothing is known about how long sessions last, and at most. */
const USUAL_WAIT = 10
const MAX_WAIT = 60

/** A session that this process has in hand. */
type Held = { session: LiveSession; ended: Promise<void> }

/**
 * The live service: makes sessions, hands clients to them, and takes up again those that an earlier
 * process had in hand.
 */
export class Live {
  readonly #options: LiveOptions
  readonly #log: Log
  readonly #folder: string
  readonly #create: CreateJob
  readonly #owner = randomUUID()
  readonly #held = new Map<string, Promise<Held | undefined>>()
  /** Sessions whose client has yet to come. */
  readonly #awaited = new Map<string, NodeJS.Timeout>()
  readonly #closing = new AbortController()
  #creating: Promise<unknown> = Promise.resolve()
  /** Seconds that sessions lasted, the recent ones counting most. */
  #usualSeconds: number | undefined

  constructor(options: LiveOptions) {
    this.#options = options
    this.#log = options.log.child({ room: 'live' })
    this.#folder = liveFolder(options.config.storage.folder)
    this.#create = createJobs(options.storage.db)
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
    const session = {
      kind: 'live' as const,
      id: randomUUID(),
      account,
      createdAt: Date.now(),
      params,
      customMetadata,
      channels: (params as LiveParams).channels,
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
    }
    const maxQueued = config.live.maxPerAccount
    const creation = await this.#create(session, { maxQueued, idempotency })
    if (creation === 'refused') {
      const retryAfter = this.#secondsUntilRoom()
      throw new AppError('too_many_sessions', `${maxQueued} are open already`, { retryAfter })
    }
    if (creation !== 'created') return sameSession(storage, creation, idempotency!)
    this.#awaitClient(session)
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
   * Hands a client to the session of its token; `offset` is the session byte that it sends next. Resolves
   * to a close code of contract 5.11 when it cannot be had.
   */
  async connect(
    token: string,
    options: { offset?: number | undefined } = {},
  ): Promise<Connection | number> {
    const { config, storage } = this.#options
    const now = Date.now()
    const holder = await findLiveJobByToken(storage.db, token, {
      now,
      grace: config.live.tokenGrace,
    })
    if (!holder) return 4401
    if (!holder.job || holder.ended) return 4410
    if (this.#closing.signal.aborted) return 1012
    const held = await this.#hold(holder.job)
    return held ? held.session.connect(options) : 1011
  }

  /** Takes up the sessions that an earlier process left, behind the start. */
  async start(): Promise<void> {
    const { db } = this.#options.storage
    const jobs = await listOpenLiveJobs(db)
    const begun = jobs.filter(({ status }) => status === 'processing')
    const left = begun.map(({ id }) => id)
    await removeStaleLiveFiles(this.#folder, left)
    for (const job of jobs) if (job.status === 'queued') this.#awaitClient(job)
    if (left.length > 0) this.#log.info({ sessions: left.length }, 'taking up live sessions')
    for (const job of begun) void this.#hold(job)
  }

  /** Tells clients to come again, and lets go of all sessions: what has come is stored. */
  async drain(): Promise<void> {
    this.#closing.abort()
    for (const timer of this.#awaited.values()) clearTimeout(timer)
    const held = await Promise.all(this.#held.values())
    const step = Math.min(LEAVE_STEP_MS, LEAVE_MS / Math.max(1, held.length))
    const leaving = held.map(async (one, i) => {
      await delay(i * step)
      await one?.session.leave()
      await one?.ended
    })
    await Promise.all(leaving)
  }

  /** Refuses when the machine carries as many sessions as it can. */
  async #checkRoom(): Promise<void> {
    const { config, speech, storage } = this.#options
    const { slots } = config.live
    const retryAfter = this.#secondsUntilRoom()
    if (!speech.live) throw new AppError('live_unavailable', 'this server offers none')
    // Sessions that wait for their client cost nothing; only a number that somebody set counts them.
    const open = slots === undefined ? this.#held.size : await countOpenLiveJobs(storage.db)
    const most = slots ?? speech.live.capacity ?? Number.POSITIVE_INFINITY
    if (open < most) return
    throw new AppError('live_unavailable', `it carries ${open} already`, { retryAfter })
  }

  #secondsUntilRoom(): number {
    if (this.#usualSeconds === undefined) return USUAL_WAIT
    const seconds = this.#usualSeconds / Math.max(1, this.#held.size)
    return Math.ceil(Math.min(MAX_WAIT, Math.max(1, seconds)))
  }

  #awaitClient({ id, createdAt }: Pick<LiveJob, 'id' | 'createdAt'>): void {
    const { connectTimeout } = this.#options.config.live
    const wait = Math.max(0, createdAt + connectTimeout * 1000 - Date.now())
    const timer = setTimeout(() => void this.#giveUp(id), wait)
    this.#awaited.set(id, timer)
  }

  #isAwaitedNoMore(id: string): void {
    clearTimeout(this.#awaited.get(id))
    this.#awaited.delete(id)
  }

  /** Nobody came. */
  async #giveUp(id: string): Promise<void> {
    this.#awaited.delete(id)
    const { message, status } = new AppError('session_not_connected')
    try {
      await this.#fail(id, { code: status, message })
    } catch (error) {
      this.#log.error({ err: error, sessionId: id }, 'cannot end a session that nobody came to')
    }
  }

  async #fail(id: string, failure: { code: number; message: string }): Promise<void> {
    await failLiveJob(this.#options.storage.db, id, { failure, at: Date.now() })
    this.#log.warn({ sessionId: id, ...failure }, 'live session ended with an error')
  }

  /** The session of a job, in hand; undefined when it has ended meanwhile. */
  #hold(job: LiveJob): Promise<Held | undefined> {
    const known = this.#held.get(job.id)
    if (known) return known
    const held = this.#open(job).catch((error: unknown) => {
      this.#log.error({ err: error, sessionId: job.id }, 'cannot take a live session in hand')
      return undefined
    })
    this.#held.set(job.id, held)
    void held.then(async (one) => {
      await one?.ended
      this.#held.delete(job.id)
    })
    return held
  }

  async #open(job: LiveJob): Promise<Held | undefined> {
    const { config, speech, storage } = this.#options
    const lease = await beginLiveJob(storage.db, job.id, { owner: this.#owner })
    if (!lease) return undefined
    if (!speech.live) throw new AppError('live_unavailable', 'this server offers none')
    this.#isAwaitedNoMore(job.id)
    const params = job.params as LiveParams
    const folder = join(this.#folder, job.id)
    const { files, isNew } = await openFiles(folder)
    const routing = routingOf(params)
    const keepSeconds = config.live.resumeDedupe
    const earlier = isNew ? undefined : await readEarlier(files, { routing, keepSeconds })
    const session = new LiveSession({
      id: job.id,
      params,
      files,
      channelPaths: Array.from({ length: params.channels }, (_, i) => join(folder, `channel-${i}`)),
      ears: speech.live,
      languages: speech.languages,
      config: config.live,
      earlier,
      finish: (outcome, signal) => this.#finish({ job, lease, files, outcome, signal }),
      fail: () => this.#fail(job.id, { code: 500, message: 'The session failed' }),
      log: this.#log,
    })
    return { session, ended: this.#live(job, { session, files, folder }) }
  }

  /** Lets a session live to its end, and clears up behind it. */
  async #live(
    job: LiveJob,
    { session, files, folder }: { session: LiveSession; files: LiveFiles; folder: string },
  ): Promise<void> {
    const end = await session.run()
    try {
      await files.close()
      if (end !== 'left') await removeLiveFiles(folder)
    } catch (error) {
      this.#log.error({ err: error, sessionId: job.id }, 'cannot clear up behind a live session')
    }
    if (end === 'left') return this.#takeUpAgain(job)
    const seconds = (Date.now() - job.createdAt) / 1000
    this.#usualSeconds = ((this.#usualSeconds ?? seconds) * 3 + seconds) / 4
  }

  /** A session whose disk failed goes on from what is on it; one that was left waits for the next start. */
  #takeUpAgain(job: LiveJob): void {
    const { signal } = this.#closing
    if (signal.aborted) return
    const again = async () => {
      await delay(RETRY_MS, undefined, { signal })
      await this.#hold({ ...job, status: 'processing' })
    }
    again().catch(() => {}) // The server stops.
  }

  async #finish({ signal, ...ending }: Ending & { signal: AbortSignal }): Promise<void> {
    for (;;) {
      try {
        await this.#store(ending)
        return
      } catch (error) {
        signal.throwIfAborted()
        this.#log.error({ err: error, sessionId: ending.job.id }, 'cannot end a live session')
        await delay(RETRY_MS, undefined, { signal })
      }
    }
  }

  /** Puts result and recording where every job has them; until the last statement nobody sees them. */
  async #store({ job, lease, files, outcome }: Ending): Promise<void> {
    const { db, objects } = this.#options.storage
    const { format, soundBytes, duration } = outcome
    const { channels } = format
    const result = await storeResultText(db, outcome.result())
    let isDone = false
    try {
      const header = wavHeader(format, soundBytes)
      const kept =
        soundBytes > 0 ? await keepRecording(files, objects, { id: job.fileId, header }) : undefined
      const file = kept && { ...kept, duration, channels }
      isDone = await finishLiveJob(db, lease, { result, file, at: Date.now() })
      if (!isDone) throw new Error('Cannot end the live session: another process has it in hand')
    } finally {
      if (!isDone) await dropResult(db, result)
    }
  }
}

type Ending = { job: LiveJob; lease: Lease; files: LiveFiles; outcome: Outcome }

/** Opens the files of a session, which a process that was killed at the wrong moment may not have made. */
async function openFiles(folder: string): Promise<{ files: LiveFiles; isNew: boolean }> {
  try {
    return { files: await openLiveFiles(folder, { soundAfter }), isNew: false }
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'file_not_found')) throw error
    return { files: await createLiveFiles(folder), isNew: true }
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
