import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { steadyNow } from '../../../src/clock.ts'
import type { Db } from '../../../src/storage/database/db.ts'
import type { Job } from '../../../src/storage/jobs/jobs.ts'
import {
  type ClaimedJob,
  type ClaimOptions,
  claimJob,
} from '../../../src/storage/jobs/queue/claim-job.ts'
import { insertJob } from '../../../src/storage/jobs/queue/insert-job.ts'
import { requeueJobsOfExpiredLeases } from '../../../src/storage/jobs/queue/queue-maintenance.ts'
import { type JobResult, readResult } from '../../../src/storage/jobs/results.ts'
import { insertRecording } from '../../../src/storage/recordings/recordings.ts'

export type TestJob = {
  account?: string
  createdAt?: number
  runAfter?: number
  /** An upload; without it the job has an address to fetch. */
  fileId?: string
  maxQueued?: number
  /** Besides the model. */
  params?: Record<string, unknown>
  metadata?: Record<string, unknown>
  warnings?: readonly string[]
}

/** Queues a job that is ready to be claimed; undefined when the queue refuses it. */
export async function addJob(db: Db, given: TestJob = {}): Promise<string | undefined> {
  const { account = 'acme', createdAt = 1000, runAfter = 0, fileId, maxQueued = 300 } = given
  const { warnings } = given
  const customMetadata = given.metadata ?? null
  const id = randomUUID()
  const file = fileId
    ? { id: fileId, filename: null, source: null }
    : { id: randomUUID(), filename: 'talk.mp3', source: 'https://audio.example/talk.mp3' }
  const job = {
    id,
    account,
    createdAt,
    runAfter,
    params: { model: 'stt-1', ...given.params },
    file,
  }
  const queued = await insertJob(db, { ...job, customMetadata, warnings }, { maxQueued })
  return queued ? id : undefined
}

/** Changes a waiting job so that 300 ms from now it will have waited for `seconds`. */
export async function makeOverdue(db: Db, id: string, seconds: number): Promise<void> {
  const runAfter = steadyNow() - seconds * 1000 + 300
  await db.sql.updateTable('jobs').set({ run_after: runAfter }).where('id', '=', id).execute()
}

/** Adds an upload of one second, without its bytes. */
export async function addFile(db: Db, given: { account?: string; createdAt?: number } = {}) {
  const { account = 'acme', createdAt = 1000 } = given
  const id = randomUUID()
  const shape = { extension: 'wav', size: 32_044, duration: 1, channels: 1 }
  await insertRecording(db, {
    id,
    account,
    filename: 'talk.wav',
    source: null,
    ...shape,
    createdAt,
  })
  return id
}

/** Claims a job as a server would whose clock is at `now`. */
export function claim(db: Db, given: Partial<ClaimOptions> = {}): Promise<ClaimedJob | undefined> {
  const now = given.now ?? 5000
  const usual = {
    owner: 'server',
    now,
    leaseMs: 30_000,
    maxAttempts: 3,
    maxPerAccount: 25,
  }
  return claimJob(atTime(db, now), { ...usual, ...given })
}

/** Returns the result of a job, parsed. */
export async function resultOf(db: Db, { result }: Pick<Job, 'result'>): Promise<JobResult | null> {
  const text = result && (await readResult(db, result))
  return text ? (JSON.parse(text) as JobResult) : null
}

/** Returns the database with a clock that stands at `ms`. */
export function atTime(db: Db, ms: number): Db {
  return { ...db, dialect: { ...db.dialect, now: () => sql<number>`cast(${ms} as bigint)` } }
}

/** Requeues the jobs whose lease has expired at `now`. */
export function returnLost(
  db: Db,
  { now, running = [] }: { now: number; running?: readonly string[] },
): Promise<number> {
  return requeueJobsOfExpiredLeases(atTime(db, now), { now, running })
}
