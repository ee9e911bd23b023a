import { setTimeout as delay } from 'node:timers/promises'
import { wallNow } from '../../clock.ts'
import type { Log } from '../../observability/log.ts'
import { type Metrics, outcomeOf } from '../../observability/metrics.ts'
import type { LiveCallback } from '../../storage/deliveries/queue-deliveries.ts'
import { hasEnded, type JobFailure } from '../../storage/jobs/finish-job.ts'
import type { Lease } from '../../storage/jobs/queue/lease.ts'
import { commitOrDelete, deleteResultObject, storeResultText } from '../../storage/jobs/results.ts'
import type { DiskSessionStore } from '../../storage/live/disk-session-store.ts'
import { failLiveJob, finishLiveJob, type LiveJob } from '../../storage/live/live-jobs.ts'
import type { Storage } from '../../storage/storage.ts'
import { roundTo } from '../../transcript/rounding.ts'
import { type CallbackFeed, dropBodies } from '../callbacks/callback-feed.ts'
import { formatOf, secondsOfAudio } from '../input/session-format.ts'
import type { FinishedSession } from '../messages/closing-messages.ts'
import { endMessage } from '../messages/lifecycle-messages.ts'
import type { LiveParams } from '../request/live-params.ts'
import { keepAudio } from './keep-audio.ts'

/**
 * A failed write is tried again after this time. The time doubles with each failure, up to eight
 * times as long.
 */
const RETRY_MS = 2000

const sessionFailed: JobFailure = { code: 500, message: 'The session failed' }

/** The session no longer owns its job: another node took it over, or it has ended. */
export class SessionLeaseLostError extends Error {}

/** The session was canceled; its job ends with `failure`. */
export class SessionCanceledError extends Error {
  readonly failure: JobFailure

  constructor(failure: JobFailure) {
    super(failure.message)
    this.failure = failure
  }
}

/** A session that this process may write to: its job, the lease on it, and its files. */
export type LeasedSession = { job: LiveJob; lease: Lease; store: DiskSessionStore }

/** The feed of its callback, if there is one. */
type Feed = Pick<CallbackFeed, 'feed' | 'finish'>

/** Options for ending a session's job. */
export type FinishLiveJobOptions = {
  storage: Pick<Storage, 'db' | 'objects'>
  log: Log
  metrics?: Metrics | undefined
  /**
   * Aborted when the server stops: a job that could not be ended by then is left to the next
   * process.
   */
  signal: AbortSignal
}

/**
 * Ends the job of a session, done or failed, and retries for as long as that cannot be stored. A
 * job that the session no longer owns is left as it is.
 */
export class LiveJobFinisher {
  readonly #options: FinishLiveJobOptions
  readonly #session: LeasedSession & { feed?: Feed | undefined }
  #isLost = false
  /** Whether an earlier attempt may have ended the job although it reported an error. */
  #mayBeDone = false

  constructor(options: FinishLiveJobOptions, session: LeasedSession & { feed?: Feed | undefined }) {
    this.#options = options
    this.#session = session
  }

  /** Whether another node owns the job and its folder. */
  get isLost(): boolean {
    return this.#isLost
  }

  /**
   * Ends the job with its result; rejects when `signal` is aborted before that, or the session does
   * not own the job.
   */
  async finish(outcome: FinishedSession, signal: AbortSignal): Promise<void> {
    await this.#retryStore(() => this.#store(outcome), signal)
    const { log, metrics } = this.#options
    const { id: sessionId, account } = this.#session.job
    log.info({ sessionId, account }, 'live session ended')
    metrics?.jobsEnded.inc({ kind: 'live', outcome: 'done' })
    metrics?.audioSeconds.inc({ kind: 'live' }, outcome.duration)
  }

  /**
   * Ends the job as failed, and keeps the recorded audio; rejects when the server stops before
   * that.
   */
  async fail(failure = sessionFailed): Promise<void> {
    const { storage, signal, log, metrics } = this.#options
    const { job, lease, store, feed } = this.#session
    const fail = async () => {
      await feed?.feed()
      const failed = { job, store, failure, only: lease }
      if (!(await failJobKeepingAudio(storage, failed))) throw new SessionLeaseLostError()
      log.warn(
        { sessionId: job.id, account: job.account, ...failure },
        'live session ended with an error',
      )
      metrics?.jobsEnded.inc({ kind: 'live', outcome: outcomeOf(failure) })
    }
    try {
      if (!this.#isLost) await this.#retryStore(fail, signal)
    } catch (error) {
      if (!(error instanceof SessionLeaseLostError)) throw error
    }
  }

  async #retryStore(store: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    const { job } = this.#session
    try {
      await retryUntilStored(store, { signal, log, sessionId: job.id })
    } catch (error) {
      if (error instanceof SessionLeaseLostError) {
        this.#isLost = true
        log.error({ sessionId: job.id }, 'a live session has lost its job')
      }
      throw error
    }
  }

  /**
   * Stores result and recording where those of every job are; they are invisible until the last
   * statement.
   */
  async #store(outcome: FinishedSession): Promise<void> {
    const { db, objects } = this.#options.storage
    const { job, lease, store, feed } = this.#session
    const wasDone = async () => this.#mayBeDone && (await hasEnded(db, lease, 'done'))
    if (await wasDone()) return
    const result = await storeResultText(db, outcome.result(), { isErasable: job.zeroRetention })
    let callbacks: LiveCallback[] = []
    const finish = async () => {
      const { epoch } = lease
      const file = await keepAudio(objects, { job, store, epoch, ...outcome })
      callbacks = (await feed?.finish()) ?? []
      const { llm } = outcome
      return finishLiveJob(db, lease, { result, file, llm, at: wallNow(), callbacks })
    }
    const drop = () => Promise.all([deleteResultObject(db, result), dropBodies(db, callbacks)])
    const isDone = await commitOrDelete(db, finish, drop).catch((error) => {
      this.#mayBeDone ||= db.dialect.isOutcomeUnknown(error)
      throw error
    })
    if (!isDone && !(await wasDone())) throw new SessionLeaseLostError()
  }
}

/** A job to fail, its recorded audio, and the lease that it must still have, if any. */
export type FailedSession = {
  job: LiveJob
  store: DiskSessionStore | undefined
  failure: JobFailure
  only?: Lease | undefined
}

/**
 * Ends a job as failed, and keeps the recorded audio as the file of the job. Returns false, and
 * changes nothing, when the job has ended or the lease was lost.
 */
export async function failJobKeepingAudio(
  { db, objects }: FinishLiveJobOptions['storage'],
  { job, store, failure, only }: FailedSession,
): Promise<boolean> {
  const format = formatOf(job.params as LiveParams)
  const audioBytes = store?.audioBytes ?? 0
  const duration = roundTo(secondsOfAudio(audioBytes, format), 6)
  const audio = store && { job, store, epoch: only?.epoch, format, audioBytes, duration }
  const file = audio && (await keepAudio(objects, audio))
  return failLiveJob(db, job.id, { failure, file, at: wallNow(), endMessage, only })
}

type StoreOptions = { signal: AbortSignal; log: Log; sessionId: string; retryMs?: number }

/**
 * Calls `store` until it succeeds; rejects when aborted before that, or when the session no longer
 * owns its job.
 */
export async function retryUntilStored<T>(
  store: () => Promise<T>,
  { signal, log, sessionId, retryMs = RETRY_MS }: StoreOptions,
): Promise<T> {
  for (let pauseMs = retryMs; ; pauseMs = Math.min(2 * pauseMs, 8 * retryMs)) {
    try {
      return await store()
    } catch (error) {
      if (error instanceof SessionLeaseLostError) throw error
      signal.throwIfAborted()
      log.error({ err: error, sessionId }, 'cannot store the end of a live session, retrying')
      await delay(pauseMs, undefined, { signal })
    }
  }
}
