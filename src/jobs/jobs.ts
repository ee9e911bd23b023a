import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { chooseLanguage, listedLanguages } from '../asr/languages.ts'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import { decodeMedia, probeMedia } from '../audio/media.ts'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'
import { createResolver, type Resolve } from '../net/resolver.ts'
import { inTransaction } from '../storage/db.ts'
import {
  type CreateJob,
  createJobWriter,
  type Earlier,
  findRepeated,
  type IdempotencyKey,
} from '../storage/jobs/create-job.ts'
import { deleteEndedJob, findJob, type JobId } from '../storage/jobs/jobs.ts'
import { findActiveJobs } from '../storage/jobs/queue-maintenance.ts'
import { findFile, type StoredFile } from '../storage/objects/files.ts'
import type { Storage } from '../storage/storage.ts'
import type { TextCapabilities } from '../text/capabilities.ts'
import { languages as redactedLanguages } from '../text/entities/find-entities.ts'
import { type JobAddOn, retryAddOn } from './add-on-retry.ts'
import type { Observers } from './attempt-metrics.ts'
import { removeCheckpoints, removeStaleCheckpoints } from './checkpoints.ts'
import { steadyNow } from './clock.ts'
import { runMaintenance } from './maintenance.ts'
import { type MediaTools, type PipelineTools, transcribe } from './pipeline.ts'
import { QueueLoop } from './queue-loop.ts'
import type { Services } from './service-add-ons.ts'
import { filenameOf } from './source-url.ts'
import { type AddressedUpload, fetchUpload, storeUpload, type Upload } from './uploads.ts'

/** A job request, after validation. */
export type SubmitRequest = {
  /** `request_params` as the job shows them, with defaults. */
  params: Record<string, unknown>
  /** Their JSON text, if it is already written; `params` may then lack the rest of long lists. */
  paramsText?: string | undefined
  customMetadata: Record<string, unknown> | null
  /** An upload of the account; otherwise `source`, a remote URL. */
  fileId: string | null
  source: string | null
  /** Makes a repeated request create only one job. */
  idempotency?: IdempotencyKey | undefined
}

/** The dependencies of the recorded-audio service. */
export type JobsOptions = Observers & {
  config: Pick<Config, 'addOnResults' | 'jobs' | 'media' | 'network' | 'storage'>
  storage: Pick<Storage, 'db' | 'objects' | 'space'> &
    Partial<Pick<Storage, 'orphans' | 'deletionClock'>>
  speech: SpeechEngine
  resultBuilder: PipelineTools['resultBuilder']
  services?: Services | undefined
  log: Log
  media?: MediaTools
  /** For tests: resolves the host name of a source. */
  resolve?: Resolve
  /** Called when something may have been queued for receivers. */
  onEvents?: () => void
  /** Called when a job was deleted. */
  onDeleted?: (jobId: string) => void
  /** Milliseconds that running jobs may continue after the server begins to stop. */
  graceMs?: number | undefined
  /** For tests: milliseconds a job waits when there is no space. */
  spacePauseMs?: number | undefined
}

const GRACE_MS = 5000

type Refused = { account: string; fileId: string | null; maxQueued: number }

/** Seconds after which a rejected client may well succeed. */
const RETRY_SOON = { retryAfter: 5 }
/** With fewer, a job of minutes would hold up every short one on a single-core machine. */
const MIN_SLOTS = 2

/** The recorded-audio service: accepts uploads and jobs, works through the queue, and deletes. */
export class Jobs {
  readonly #tools: PipelineTools
  readonly #log: Log
  readonly #options: JobsOptions
  readonly #runner: QueueLoop
  readonly #create: CreateJob
  readonly #closed = new AbortController()
  /** The number of uploads being fetched, by account. */
  readonly #fetching = new Map<string, number>()
  #tidying: Promise<void> = Promise.resolve()

  constructor(options: JobsOptions) {
    const { config, storage, speech, resultBuilder, services, log, media } = options
    const { metrics, tracing, graceMs = GRACE_MS } = options
    const { maxAttempts, timeout, queueTimeout, maxConcurrentPerAccount } = config.jobs
    const workFolder = join(config.storage.folder, 'work')
    const { db, space } = storage
    const tools = { probe: probeMedia, decode: decodeMedia }
    const resolve = options.resolve ?? createResolver()
    const given = { db, space, log, speech, resultBuilder, config, workFolder, resolve }
    this.#tools = { ...given, services, media: media ?? tools }
    this.#options = options
    this.#create = createJobWriter(db)
    this.#log = log.child({ module: 'jobs' })
    this.#runner = new QueueLoop({
      db,
      log: this.#log,
      maxAttempts,
      timeout,
      queueTimeout,
      maxPerAccount: maxConcurrentPerAccount,
      slots: Math.max(MIN_SLOTS, speech.workers),
      graceMs,
      spacePauseMs: options.spacePauseMs,
      metrics,
      tracing,
      onEvents: options.onEvents,
      transcribe: (job, options) => transcribe(this.#tools, job, options),
      discard: (jobId) => removeCheckpoints(workFolder, jobId),
    })
  }

  /** Queues a job. Once this resolves, the job survives whatever happens to the server. */
  async submit(account: string, request: SubmitRequest): Promise<{ id: string }> {
    if (this.#closed.signal.aborted) throw new AppError('server_stopping', undefined, RETRY_SOON)
    const { params, paramsText, customMetadata, fileId, source, idempotency } = request
    const listed = listedLanguages(params)
    chooseLanguage(listed, this.#tools.speech.languages)
    if (params.pii_redaction === true) refuseUnredactable(listed)
    if (!fileId && !source) throw new TypeError('submit: neither fileId nor source is given')
    await this.#tools.space.admit(account)
    const id = randomUUID()
    const file = {
      id: fileId ?? randomUUID(),
      filename: source && filenameOf(source),
      source: fileId ? null : source,
    }
    const moments = { createdAt: Date.now(), runAfter: steadyNow() }
    const { maxQueuedPerAccount: maxQueued } = this.#tools.config.jobs
    const job = { id, account, ...moments, params, paramsText, customMetadata, file }
    const creation = await this.#create(job, { maxQueued, idempotency })
    if (creation === 'refused') throw await this.#whyRefused({ account, fileId, maxQueued })
    this.#options.onEvents?.()
    this.#runner.wake({ account, isFetched: fileId !== null })
    // The same request may have arrived concurrently and been first.
    return creation === 'created' ? { id } : sameRequest(creation, idempotency!)
  }

  /**
   * Finds the job that an earlier request with this key created. Fails with `idempotency_conflict`
   * if that request asked for something else.
   */
  async findRepeated(idempotency: IdempotencyKey): Promise<{ id: string } | undefined> {
    const earlier = await findRepeated(this.#tools.db, idempotency, { now: Date.now() })
    return earlier && sameRequest(earlier, idempotency)
  }

  /** Stores a recording. It is kept while a job uses it, otherwise for the configured time. */
  upload(account: string, upload: Upload): Promise<StoredFile> {
    return storeUpload(this.#tools, account, upload)
  }

  /**
   * Fetches a recording and keeps it like an uploaded one. An account may fetch as many at a time
   * as it may run jobs.
   */
  async uploadFrom(account: string, upload: AddressedUpload): Promise<StoredFile> {
    const most = this.#tools.config.jobs.maxConcurrentPerAccount
    const fetching = this.#fetching.get(account) ?? 0
    if (fetching >= most)
      throw new AppError('too_many_fetches', `${most} are under way`, RETRY_SOON)
    this.#fetching.set(account, fetching + 1)
    try {
      return await fetchUpload(this.#tools, account, upload)
    } finally {
      const others = this.#fetching.get(account)! - 1
      if (others > 0) this.#fetching.set(account, others)
      else this.#fetching.delete(account)
    }
  }

  /**
   * Deletes a job that has ended, with its result and, unless another job uses it, its recording.
   */
  async remove(job: JobId): Promise<void> {
    const { db, workFolder } = this.#tools
    const deleted = await inTransaction(db, (tx) => deleteEndedJob(tx, job))
    if (!deleted) {
      throw new AppError((await findJob(db, job)) ? 'job_active' : 'job_not_found')
    }
    this.#options.onDeleted?.(job.id)
    for (const id of deleted.objects) await db.objects.delete(id)
    await removeCheckpoints(workFolder, job.id)
  }

  /** Retries a failed add-on of a finished job; returns the JSON text now in its result. */
  retryAddOn(addOn: JobAddOn): Promise<string> {
    return retryAddOn(this.#tools, addOn, { signal: this.#closed.signal })
  }

  /** Returns the add-ons that a transcript can have. */
  capabilities(): Promise<TextCapabilities> {
    return this.#tools.resultBuilder.describe()
  }

  /** Starts working through the queue, including what an earlier server left unfinished. */
  async start(): Promise<void> {
    const { db, workFolder } = this.#tools
    await removeStaleCheckpoints(workFolder, await findActiveJobs(db))
    await this.#runner.start()
    const { signal } = this.#closed
    const { uploadTtl, retentionDays, orphanDays } = this.#tools.config.storage
    const { onDeleted, storage } = this.#options
    const { orphans, deletionClock } = storage
    const mayDelete = () => deletionClock?.mayDelete() ?? true
    const kept = { uploadTtl, retentionDays, orphanDays, onDeleted, orphans, mayDelete }
    this.#tidying = runMaintenance({ db, log: this.#log, ...kept, signal })
  }

  /** Resolves when no job is waiting or running. */
  idle(): Promise<void> {
    return this.#runner.idle()
  }

  /**
   * Starts no more jobs, lets running ones end for a moment, and returns the rest to the queue.
   * Jobs that are still submitted wait for the next start.
   */
  drain(): Promise<void> {
    return this.#runner.close()
  }

  /** Drains, and accepts nothing any more. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#tidying
    await this.drain()
  }

  async #whyRefused({ account, fileId, maxQueued }: Refused): Promise<AppError> {
    if (fileId && !(await findFile(this.#tools.db, { id: fileId, account }))) {
      return new AppError('file_not_found', 'the upload does not exist or was deleted')
    }
    const retryAfter = this.#runner.secondsUntilNext(account)
    return new AppError('too_many_jobs', `${maxQueued} are waiting already`, { retryAfter })
  }
}

/** Returning unredacted text is the one thing that must never happen (contract D63). */
function refuseUnredactable(listed: readonly string[]): void {
  const unknown = listed.filter((code) => !redactedLanguages.includes(code))
  if (unknown.length === 0) return
  const detail = `pii_redaction knows ${redactedLanguages.join(', ')}; the request lists ${unknown.join(', ')}`
  throw new AppError('feature_not_configured', detail)
}

function sameRequest(earlier: Earlier, { fingerprint }: IdempotencyKey): { id: string } {
  if (earlier.fingerprint !== fingerprint) throw new AppError('idempotency_conflict')
  return { id: earlier.jobId }
}
