import type { TestContext } from 'node:test'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { DAY_MS } from '../../../src/clock.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { SubmitRequest } from '../../../src/jobs/job-service.ts'
import { Jobs } from '../../../src/jobs/jobs.ts'
import type { MediaDeps } from '../../../src/jobs/pipeline/pipeline-deps.ts'
import type { SpaceWait } from '../../../src/jobs/queue/attempt.ts'
import type { Resolve } from '../../../src/net/dns/resolver.ts'
import { createLog, type Log } from '../../../src/observability/log.ts'
import type { MeasureDisk } from '../../../src/storage/data-folder/disk.ts'
import { findJob, type Job } from '../../../src/storage/jobs/jobs.ts'
import type { JobResult } from '../../../src/storage/jobs/results.ts'
import type { ObjectStore } from '../../../src/storage/objects/object-store.ts'
import { openStorage, type Storage } from '../../../src/storage/storage.ts'
import { ResultBuilder } from '../../../src/text/result/result-builder.ts'
import type { Services } from '../../../src/text/service-add-ons/service-add-on.ts'
import { createFakeSpeechEngine } from '../asr/fake-speech-engine.ts'
import { createFakeMedia, type FakeRecording, fakeRecording } from '../audio/fake-media.ts'
import { sharedResultBuilder } from '../server/shared-parts.ts'
import { connectInProcess } from '../storage/databases/in-process-sqlite.ts'
import { makeFolder } from '../storage/test-storage.ts'
import { resultOf } from './test-jobs.ts'

export type ServiceOptions = {
  speech?: SpeechEngine
  media?: MediaDeps
  env?: Record<string, string>
  graceMs?: number
  disk?: MeasureDisk
  /** See `StorageOptions`. */
  isShared?: boolean
  /** Whether it runs jobs; default true. */
  runsJobs?: boolean
  heartbeatMs?: number
  /** Replaces the objects on disk. */
  objects?: ObjectStore
  spaceWait?: SpaceWait
  resolve?: Resolve
  services?: Services
  /** Replaces the silent log. */
  log?: Log
  /** The entry file of the threads that build results. */
  resultThread?: URL
  /** An earlier service's folder; without it a new one. */
  folder?: string
}

export type TestService = {
  jobs: Jobs
  storage: Storage
  folder: string
  /** Uploads a recording and queues a job for it; returns the job's id. */
  submit(recording: FakeRecording, request?: Partial<SubmitRequest>): Promise<string>
  /** Waits until nothing is left to do, then reads the job with its result. */
  ended(id: string): Promise<EndedJob>
  close(): Promise<void>
}

type Parsed = { customMetadata: unknown; postSessionMetadata: unknown; result: JobResult | null }

export type EndedJob = Omit<Job, keyof Parsed> & Parsed

export const ACCOUNT = 'acme'

/**
 * Opens a service without HTTP: the real store, queue and pipeline over fake media and a fake
 * engine.
 */
export async function openService(
  t: TestContext,
  {
    speech,
    media,
    env,
    graceMs = 5000,
    folder,
    resolve,
    disk,
    objects,
    isShared = false,
    runsJobs = true,
    heartbeatMs,
    spaceWait = { pauseMs: 10, maxMs: DAY_MS },
    services,
    resultThread,
    log = createLog('silent'),
  }: ServiceOptions = {},
): Promise<TestService> {
  const home = folder ?? (await makeFolder(t))
  const config = readConfig({ ...env, STENO_DATA_DIR: home })
  const tests = { disk, objects, isShared, heartbeatMs, connect: connectInProcess }
  const storage = await openStorage({ ...config.storage, folder: home, log, ...tests })
  const ownBuilder = resultThread && new ResultBuilder({ log, entry: resultThread })
  const resultBuilder = ownBuilder ?? sharedResultBuilder()
  const jobs = new Jobs({
    config,
    resultBuilder,
    storage,
    speech: speech ?? createFakeSpeechEngine('hello world'),
    log,
    graceMs,
    runsJobs,
    spaceWait,
    ...(resolve && { resolve }),
    services,
    media: media ?? createFakeMedia(),
  })
  const signal = new AbortController().signal
  let closed: Promise<void> | undefined

  async function shut(): Promise<void> {
    await jobs.close()
    await ownBuilder?.close()
    await storage.close()
  }
  function close(): Promise<void> {
    closed ??= shut()
    return closed
  }
  t.after(close)

  return {
    jobs,
    storage,
    folder: home,
    async submit(recording, request = {}) {
      const upload = { filename: 'talk.wav', body: fakeRecording(recording), signal }
      const { id: fileId } = await jobs.service.upload(ACCOUNT, upload)
      const usual = { params: {}, customMetadata: null, fileId, source: null }
      const { id } = await jobs.service.submit(ACCOUNT, { ...usual, ...request })
      return id
    },
    async ended(id) {
      await jobs.idle()
      const job = await findJob(storage.db, { id, account: ACCOUNT })
      if (!job) throw new Error(`job ${id} is gone`)
      return {
        ...job,
        customMetadata: JSON.parse(job.customMetadata ?? 'null'),
        postSessionMetadata: JSON.parse(job.postSessionMetadata),
        result: await resultOf(storage.db, job),
      }
    },
    close,
  }
}
