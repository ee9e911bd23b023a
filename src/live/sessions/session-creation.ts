import { randomBytes, randomUUID } from 'node:crypto'
import { wallNow } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import { hasZeroRetention } from '../../config/storage/zero-retention.ts'
import { AppError } from '../../errors.ts'
import {
  type CreateJob,
  createJobWriter,
  findByIdempotencyKey,
  type IdempotencyKey,
  type IdempotencyRecord,
  jobOfSameRequest,
} from '../../storage/jobs/job-writer.ts'
import type { LiveJob } from '../../storage/live/live-jobs.ts'
import { findLiveSession } from '../../storage/live/session-tokens.ts'
import type { Storage } from '../../storage/storage.ts'
import { startMessage } from '../messages/lifecycle-messages.ts'
import type { LiveParams } from '../request/live-params.ts'
import type { CreatedSession, ParsedLiveRequest } from '../request/live-request.ts'
import type { Admission } from './admission.ts'

/** Options of the creation of sessions. */
export type SessionCreationOptions = {
  config: Pick<Config, 'jobs' | 'live' | 'storage'>
  storage: Pick<Storage, 'db' | 'space'>
  admission: Pick<Admission, 'check' | 'secondsUntilCapacity'>
  /** Called with each new session. */
  onCreated(session: Pick<LiveJob, 'id' | 'createdAt' | 'params'>): void
}

/** The bytes of a token (192 bits), which is encoded in URL-safe base64. */
const TOKEN_BYTES = 24
/** The length of a token in characters. */
export const TOKEN_CHARS = 32

/** Creates sessions, each only once however often its request is repeated. */
export class SessionCreation {
  readonly #options: SessionCreationOptions
  readonly #create: CreateJob
  #creating: Promise<unknown> = Promise.resolve()

  constructor(options: SessionCreationOptions) {
    this.#options = options
    this.#create = createJobWriter(options.storage.db)
  }

  /** Stores a session, or returns the one that the same request has created before. */
  create(account: string, request: ParsedLiveRequest): Promise<CreatedSession> {
    // Sessions are created one after the other: each depends on the free capacity, and on whether
    // the session already exists.
    const created = this.#creating.then(() => this.#createNext(account, request))
    this.#creating = created.catch(() => {})
    return created
  }

  /**
   * Finds the session of an earlier request with this key; see `LiveService.findByIdempotencyKey`.
   */
  async findByIdempotencyKey(idempotency: IdempotencyKey): Promise<CreatedSession | undefined> {
    const { db } = this.#options.storage
    const earlier = await findByIdempotencyKey(db, idempotency, { now: wallNow() })
    return earlier && this.#sessionOf(earlier, idempotency)
  }

  async #createNext(account: string, request: ParsedLiveRequest): Promise<CreatedSession> {
    const { config, storage, admission, onCreated } = this.#options
    const { idempotency } = request
    const repeated = idempotency && (await this.findByIdempotencyKey(idempotency))
    if (repeated) return repeated
    await admission.check(account)
    await storage.space.checkAccount(account)
    const session = this.#newSession(account, request)
    const maxQueued = config.live.maxPerAccount
    const { maxSecondsPerMonth } = config.jobs
    const creation = await this.#create(session, {
      maxQueued,
      maxSecondsPerMonth,
      idempotency,
    })
    if (creation === 'refused') {
      const retryAfter = admission.secondsUntilCapacity()
      const detail = `${maxQueued} are open already (STENO_MAX_LIVE_SESSIONS)`
      throw new AppError('too_many_sessions', detail, { retryAfter })
    }
    if (creation !== 'created') return this.#sessionOf(creation, idempotency!)
    onCreated(session)
    return (await findLiveSession(storage.db, session.id))!
  }

  #newSession(account: string, request: ParsedLiveRequest) {
    const { params, paramsText, customMetadata, warnings, keyHash, keyId } = request
    return {
      kind: 'live' as const,
      id: randomUUID(),
      account,
      createdAt: wallNow(),
      params,
      paramsText,
      customMetadata,
      warnings,
      channels: (params as LiveParams).channels,
      token: randomBytes(TOKEN_BYTES).toString('base64url'),
      keyHash,
      keyId,
      zeroRetention: hasZeroRetention(this.#options.config.storage, account),
      startMessage,
    }
  }

  async #sessionOf(
    earlier: IdempotencyRecord,
    idempotency: IdempotencyKey,
  ): Promise<CreatedSession> {
    const { db } = this.#options.storage
    const session = await findLiveSession(db, jobOfSameRequest(earlier, idempotency))
    if (!session) throw new AppError('job_not_found', 'its session ended long ago')
    return session
  }
}
