import { randomUUID } from 'node:crypto'
import { listedLanguages } from '../asr/languages/languages.ts'
import { readRecognitionRequest } from '../asr/model-selection/recognition-request.ts'
import { steadyNow, wallNow } from '../clock.ts'
import { hasZeroRetention } from '../config/storage/zero-retention.ts'
import { AppError } from '../errors.ts'
import { addToCount } from '../numbers.ts'
import type { Actor } from '../storage/accounts/audit-log.ts'
import type { Db } from '../storage/database/db.ts'
import { cancelRecordedJob } from '../storage/jobs/cancel-job.ts'
import { deleteEndedJob } from '../storage/jobs/deletion/delete-job.ts'
import {
  deleteDeliveredJobs,
  markResultDelivered,
} from '../storage/jobs/deletion/zero-retention.ts'
import {
  type CreateJob,
  createJobWriter,
  findByIdempotencyKey,
  type IdempotencyKey,
  jobOfSameRequest,
} from '../storage/jobs/job-writer.ts'
import { findJob, type Job, type JobRef } from '../storage/jobs/jobs.ts'
import type { TranscriptVersion } from '../storage/jobs/transcript-edits.ts'
import { deleteWithObjects } from '../storage/objects/delete-with-objects.ts'
import { findRecording, type StoredRecording } from '../storage/recordings/recordings.ts'
import type { TextCapabilities } from '../text/add-ons/capabilities.ts'
import { languages as redactedLanguages } from '../text/entities/entity-types.ts'
import type { TranscriptFormat } from '../text/result/transcript-file.ts'
import type { TranslatorInfo } from '../text/service-add-ons/service-add-on.ts'
import { fileNameInUrl } from './fetching/source-url.ts'
import type { JobWaiters } from './job-waiters.ts'
import { removeCheckpoints } from './pipeline/checkpoints/checkpoints.ts'
import type { PipelineDeps } from './pipeline/pipeline-deps.ts'
import { deleteRecordings } from './queue/delete-recordings.ts'
import type { QueueLoop } from './queue/queue-loop.ts'
import { type JobAddOn, retryAddOn } from './results/add-on-retry.ts'
import { writeJobTranscript } from './results/job-transcript.ts'
import {
  type Correction,
  correctTranscript,
  readTranscriptEdits,
  type TranscriptEdits,
} from './results/transcript-edits.ts'
import {
  type RemoteUpload,
  storeRemoteUpload,
  storeUpload,
  type Upload,
} from './uploads/uploads.ts'

/** A job request, after validation. */
export type SubmitRequest = {
  /** `request_params` as the job shows them, with defaults. */
  params: Record<string, unknown>
  /**
   * The JSON text of `params`, if it exists already; long lists in `params` may then be shortened.
   */
  paramsText?: string | undefined
  customMetadata: Record<string, unknown> | null
  /** Warnings about the request, which the result repeats. */
  warnings?: readonly string[] | undefined
  /** The id of an upload of the account; null if the recording is remote. */
  fileId: string | null
  /** The URL of a remote recording; null for an upload. */
  source: string | null
  /** The id of the requesting key. */
  keyId?: string | undefined
  /** Makes a repeated request create only one job. */
  idempotency?: IdempotencyKey | undefined
}

/** The dependencies of the job service. */
export type JobServiceOptions = {
  deps: PipelineDeps
  /** Runs the jobs, if this process does. */
  runner: Pick<QueueLoop, 'wake' | 'secondsUntilNext' | 'cancel'> | undefined
  waiters: Pick<JobWaiters, 'ended'>
  /** Called when something may have been queued for receivers. */
  onEvents?: (() => void) | undefined
  /** Called when a job was deleted, or may have been. */
  onDeleted?: ((jobId: string) => void) | undefined
}

type RefusedJob = { account: string; fileId: string | null; maxQueued: number }

/** Seconds after which a rejected client is likely to succeed. */
const RETRY_SOON = { retryAfter: 5 }

/** The operations of clients on recorded audio: uploads, jobs, retries of add-ons, deletion. */
export class JobService {
  readonly #deps: PipelineDeps
  readonly #options: JobServiceOptions
  readonly #create: CreateJob
  readonly #closed = new AbortController()
  /** The warnings by the parameters of requests: choosing models takes longer than this lookup. */
  readonly #warnings = new WeakMap<object, readonly string[]>()
  /** The number of uploads being fetched, by account. */
  readonly #fetching = new Map<string, number>()

  constructor(options: JobServiceOptions) {
    this.#options = options
    this.#deps = options.deps
    this.#create = createJobWriter(options.deps.db)
  }

  /**
   * Queues a job. Once this resolves, the job survives a crash or restart of the server. Fails with
   * `server_stopping`, `too_many_jobs`, `file_not_found` and the errors of `warningsOf`.
   */
  async submit(account: string, request: SubmitRequest): Promise<{ id: string }> {
    if (this.#closed.signal.aborted) throw new AppError('server_stopping', undefined, RETRY_SOON)
    const { params, paramsText, customMetadata, warnings, keyId, fileId, source } = request
    const { idempotency } = request
    this.warningsOf(request)
    if (params.pii_redaction === true) refuseUnredactable(listedLanguages(params))
    if (!fileId && !source) throw new TypeError('submit: neither fileId nor source is given')
    await this.#deps.space.checkAccount(account)
    const id = randomUUID()
    const file = {
      id: fileId ?? randomUUID(),
      filename: source && fileNameInUrl(source),
      source: fileId ? null : source,
    }
    const times = { createdAt: wallNow(), runAfter: steadyNow() }
    const { maxQueuedPerAccount: maxQueued, maxSecondsPerMonth } = this.#deps.config.jobs
    const zeroRetention = hasZeroRetention(this.#deps.config.storage, account)
    const newJob = { params, paramsText, customMetadata, warnings, keyId, zeroRetention }
    const job = { id, account, ...times, ...newJob, file }
    const creation = await this.#create(job, { maxQueued, maxSecondsPerMonth, idempotency })
    if (creation === 'refused') throw await this.#refusalOf({ account, fileId, maxQueued })
    this.#options.onEvents?.()
    this.#options.runner?.wake({ account, hasRecording: fileId !== null })
    this.#deps.db.jobNotifier?.notify()
    // A concurrent request with the same idempotency key may have created the job.
    return { id: creation === 'created' ? id : jobOfSameRequest(creation, idempotency!) }
  }

  /**
   * Returns warnings about the options of a request that its models cannot honor. Fails if there
   * are no models for it, unless the attempt installs them.
   */
  warningsOf({ params }: Pick<SubmitRequest, 'params'>): readonly string[] {
    const cached = this.#warnings.get(params)
    if (cached) return cached
    const { speech } = this.#deps
    const request = readRecognitionRequest(params)
    const isMissing = speech.installer?.findMissing(request)
    const warnings = isMissing ? [] : speech.selectModels(request).warnings
    this.#warnings.set(params, warnings)
    return warnings
  }

  /**
   * Resolves with a job when it has ended; rejects with the reason of `signal` when that aborts,
   * and with `job_not_found`.
   */
  async whenEnded(ref: JobRef, signal: AbortSignal): Promise<Job> {
    await this.#options.waiters.ended(ref.id, signal)
    const job = await findJob(this.#deps.db, ref)
    if (!job) throw new AppError('job_not_found', ref.id)
    return job
  }

  /**
   * Finds the job that an earlier request with this key created. Fails with `idempotency_conflict`
   * if that request differed.
   */
  async findByIdempotencyKey(idempotency: IdempotencyKey): Promise<{ id: string } | undefined> {
    const earlier = await findByIdempotencyKey(this.#deps.db, idempotency, { now: wallNow() })
    return earlier && { id: jobOfSameRequest(earlier, idempotency) }
  }

  /** Stores a recording. It is kept while a job uses it, otherwise for the configured time. */
  upload(account: string, upload: Upload): Promise<StoredRecording> {
    return storeUpload(this.#deps, account, upload)
  }

  /**
   * Fetches a recording and stores it like an uploaded one. An account may run as many fetches at a
   * time as jobs.
   */
  async uploadFromUrl(account: string, upload: RemoteUpload): Promise<StoredRecording> {
    const max = this.#deps.config.jobs.maxConcurrentPerAccount
    if ((this.#fetching.get(account) ?? 0) >= max) {
      const detail = `${max} are in progress (STENO_MAX_CONCURRENT_JOBS)`
      throw new AppError('too_many_fetches', detail, RETRY_SOON)
    }
    addToCount(this.#fetching, account, 1)
    try {
      return await storeRemoteUpload(this.#deps, account, upload)
    } finally {
      addToCount(this.#fetching, account, -1)
    }
  }

  /**
   * Deletes a job that has ended, with its result and, unless another job uses it, its recording.
   * If the object store is unavailable, the deletion of the objects is retried later.
   */
  async remove(job: JobRef, by: Actor = { source: 'server' }): Promise<void> {
    const { db, workFolder } = this.#deps
    let isFound = false
    const deleteJob = async (tx: Db) => {
      const deleted = await deleteEndedJob(tx, job, by)
      isFound = deleted !== undefined
      return deleted
    }
    const deleted = await deleteWithObjects(db, deleteJob).finally(() => {
      // A failed commit may have deleted the job; otherwise its deliveries are sent again.
      if (isFound) this.#options.onDeleted?.(job.id)
    })
    if (!deleted) {
      throw new AppError((await findJob(db, job)) ? 'job_active' : 'job_not_found')
    }
    // PostgreSQL erases the deleted rows now; SQLite erases those of other jobs later, because that
    // is too slow for each request.
    if (db.isShared || deleted.zeroRetention) await db.dialect.eraseDeletedRows(db)
    await db.deletions.delete(deleted.objects)
    await removeCheckpoints(workFolder, job.id)
  }

  /**
   * Records that the account has read the whole result of an ended zero-retention job.
   */
  async markResultDelivered(job: Pick<JobRef, 'id' | 'account'>): Promise<void> {
    const { db, log } = this.#deps
    try {
      if (await markResultDelivered(db, job, { at: wallNow() }))
        await this.deleteDeliveredJob(job.id)
    } catch (error) {
      // Maintenance deletes the job after the maximum wait of unread results.
      log.error({ err: error, jobId: job.id }, 'cannot record that a result was read')
    }
  }

  /** Deletes a zero-retention job once its result was read and no delivery is pending. */
  async deleteDeliveredJob(id: string): Promise<void> {
    const { db, log } = this.#deps
    try {
      for (const deletedId of await deleteDeliveredJobs(db, { id }))
        this.#options.onDeleted?.(deletedId)
    } catch (error) {
      log.error({ err: error, jobId: id }, 'cannot delete a job that was delivered')
    }
  }

  /**
   * Ends a recorded job that waits or runs, as failed with 499. Fails with `job_ended` if it has
   * ended.
   */
  async cancel(job: JobRef): Promise<void> {
    const { db, workFolder, log } = this.#deps
    const { status: code, message } = new AppError('job_canceled')
    const failure = { code, message, reason: 'cancelled' } as const
    if (!(await cancelRecordedJob(db, job, { failure, at: wallNow() }))) {
      throw new AppError((await findJob(db, job)) ? 'job_ended' : 'job_not_found')
    }
    log.info({ jobId: job.id }, 'job canceled')
    await deleteRecordings({ db, log }, job.id)
    this.#options.onEvents?.()
    // A running attempt removes the checkpoints when it has stopped.
    if (this.#options.runner?.cancel(job.id)) return
    await removeCheckpoints(workFolder, job.id)
  }

  /** Retries a failed add-on of a finished job; returns the JSON text now in its result. */
  retryAddOn(addOn: JobAddOn): Promise<string> {
    return retryAddOn(this.#deps, addOn, { signal: this.#closed.signal })
  }

  /**
   * Returns the transcript of a finished job or session as a file; with `isEdited`, it has the
   * corrections of users.
   */
  transcript(
    job: JobRef,
    format: TranscriptFormat & { isEdited: boolean },
  ): Promise<string | Uint8Array> {
    return writeJobTranscript(this.#deps, job, { ...format, signal: this.#closed.signal })
  }

  /** Returns the corrections of a transcript, with its last `limit` versions. */
  transcriptEdits(job: JobRef, { limit }: { limit: number }): Promise<TranscriptEdits> {
    return readTranscriptEdits(this.#deps, job, { limit, signal: this.#closed.signal })
  }

  /** Corrects the transcript of a finished job or session; returns the new version. */
  correctTranscript(job: JobRef, correction: Correction): Promise<TranscriptVersion> {
    return correctTranscript(this.#deps, job, { ...correction, signal: this.#closed.signal })
  }

  /** Returns the add-ons that a transcript can have. */
  async capabilities(): Promise<TextCapabilities & { translators: readonly TranslatorInfo[] }> {
    const { services, resultBuilder } = this.#deps
    const all = await resultBuilder.describe()
    const addOns = all.addOns.map((addOn) => {
      const languages = services?.addOns[addOn.name]
      return languages ? { ...addOn, isConfigured: true, languages } : addOn
    })
    return { ...all, addOns, translators: services?.translators ?? [] }
  }

  /** Accepts no more jobs, and aborts retries. */
  close(): void {
    this.#closed.abort()
  }

  async #refusalOf({ account, fileId, maxQueued }: RefusedJob): Promise<AppError> {
    if (fileId && !(await findRecording(this.#deps.db, { id: fileId, account }))) {
      return new AppError('file_not_found', 'the upload does not exist or was deleted')
    }
    const { runner } = this.#options
    const retryAfter = runner?.secondsUntilNext(account) ?? RETRY_SOON.retryAfter
    return new AppError(
      'too_many_jobs',
      `${maxQueued} are waiting already (STENO_MAX_QUEUED_JOBS)`,
      { retryAfter },
    )
  }
}

/** Throws if a language cannot be redacted: unredacted text must never be returned. */
function refuseUnredactable(requestedLanguages: readonly string[]): void {
  const unknown = requestedLanguages.filter((code) => !redactedLanguages.includes(code))
  if (unknown.length === 0) return
  const detail = `pii_redaction supports only ${redactedLanguages.join(', ')}; the request lists ${unknown.join(', ')}`
  throw new AppError('feature_not_configured', detail)
}
