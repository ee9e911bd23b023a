import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { createLog } from '../../src/observability/log.ts'
import type { Db } from '../../src/storage/database/db.ts'
import { insertWebhook } from '../../src/storage/deliveries/endpoints/endpoints.ts'
import { liveCallbackBody } from '../../src/storage/deliveries/queue-deliveries.ts'
import { finishJob } from '../../src/storage/jobs/finish-job.ts'
import { createJobWriter } from '../../src/storage/jobs/job-writer.ts'
import { claimJob } from '../../src/storage/jobs/queue/claim-job.ts'
import { createCallbackQueue } from '../../src/storage/live/live-callbacks.ts'
import { beginLiveJob } from '../../src/storage/live/live-jobs.ts'
import { openStorage } from '../../src/storage/storage.ts'

/** The account of all jobs and sessions of this bench. */
export const ACCOUNT = 'bench'

/** About two minutes of speech. */
const RESULT = {
  metadata: { audio_duration: 120, number_of_distinct_channels: 1 },
  transcription: { full_transcript: 'and so it was that nobody came '.repeat(60) },
}

/** Fills a store. The measurement begins later, so writes need no sync. */
export async function fillStore(folder: string, fill: (db: Db) => Promise<void>): Promise<void> {
  const storage = await openStorage({ folder, log: createLog('fatal') })
  await sql`pragma synchronous = off`.execute(storage.db.sql)
  await fill(storage.db)
  await storage.close()
}

/** Registers a webhook for all later events. */
export async function addWebhook(db: Db, url: string): Promise<void> {
  await insertWebhook(db, {
    account: ACCOUNT,
    url,
    events: null,
    source: 'cli',
    name: null,
    createdAt: Date.now(),
  })
}

/** Creates a job with a callback, claims it and finishes it, as the server does. */
export async function endNewJob(db: Db, { callbackUrl }: { callbackUrl: string }): Promise<void> {
  const id = randomUUID()
  const now = Date.now()
  const job = {
    id,
    account: ACCOUNT,
    createdAt: now,
    runAfter: 0,
    customMetadata: null,
    params: { model: 'stt-1', callback: true, callback_config: { url: callbackUrl } },
    file: { id: randomUUID(), filename: 'talk.mp3', source: 'https://audio.example/talk.mp3' },
  }
  await createJobWriter(db)(job, { maxQueued: 300 })
  const claimed = await claimJob(db, {
    owner: 'bench',
    now,
    leaseMs: 60_000,
    maxAttempts: 3,
    maxPerAccount: 25,
  })
  await finishJob(db, claimed!.lease, { result: RESULT, at: Date.now() })
}

/** Queues messages of one live session. */
export async function queueSession(
  db: Db,
  { callbackUrl, messages }: { callbackUrl: string; messages: number },
): Promise<void> {
  const id = randomUUID()
  const params = { model: 'stt-1', callback: true, callback_config: { url: callbackUrl } }
  const job = {
    kind: 'live' as const,
    id,
    account: ACCOUNT,
    createdAt: Date.now(),
    params,
    customMetadata: null,
    token: randomUUID(),
    channels: 1,
  }
  await createJobWriter(db)(job, { maxQueued: 300 })
  const lease = await beginLiveJob(db, id, { owner: 'bench', at: Date.now() })
  const event = 'live.transcript'
  const message = JSON.stringify({ type: 'transcript', text: 'and so it was '.repeat(20) })
  const body = liveCallbackBody({ id, event, message })
  const all = Array.from({ length: messages }, (_, i) => {
    return { seq: i + 1, event, body, body_object: null, isDroppable: false }
  })
  await createCallbackQueue(db, { maxQueued: messages })(lease!, all)
}
