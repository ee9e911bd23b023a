import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../database/db.ts'

/** A part of the audio and the log of a session, as it is stored in the shared database. */
export type SessionBatch = {
  jobId: string
  /** The number of the batch in its session, from 0, without gaps. */
  seq: number
  /** The process that writes it, and the epoch of its lease. */
  writer: string
  epoch: number
  audio: Uint8Array
  /** Complete lines with their line breaks. */
  log: Uint8Array
}

/**
 * `taken` means that another process runs the session, or has ended it: it has a newer lease, or
 * has already written a batch with this number.
 */
export type BatchOutcome = 'stored' | 'taken'

/** Stores the batches of all sessions of a process. */
export type BatchWriter = {
  /**
   * Resolves when the batch is stored. After a failure, the batch may or may not be stored; the
   * same batch may be passed again.
   */
  append(batch: SessionBatch): Promise<BatchOutcome>
}

/**
 * Milliseconds between two statements; chunks are acknowledged after the statement that stores
 * them.
 */
const INTERVAL_MS = 50
/** Maximum bytes of one statement, unless a single batch is larger. */
const MAX_BYTES = 8 * 1024 * 1024
/** Batches that are read at once. */
const BATCHES_PER_PAGE = 64

type PendingBatch = { batch: SessionBatch; outcome: PromiseWithResolvers<BatchOutcome> }

/**
 * Creates the writer of a process. Batches that arrive within `intervalMs` are stored with one
 * statement, whichever sessions they belong to, so the number of statements does not grow with the
 * number of sessions.
 */
export function createBatchWriter(
  db: Db,
  { intervalMs = INTERVAL_MS }: { intervalMs?: number } = {},
): BatchWriter {
  const waiting: PendingBatch[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const pause = delay(intervalMs)
      const group = takeGroup()
      try {
        const outcomes = await storeBatches(
          db,
          group.map(({ batch }) => batch),
        )
        for (const [i, { outcome }] of group.entries()) outcome.resolve(outcomes[i]!)
      } catch (error) {
        for (const { outcome } of group) outcome.reject(error)
      }
      await pause
    }
    isRunning = false
  }

  function takeGroup(): PendingBatch[] {
    let bytes = 0
    let count = 0
    for (const { batch } of waiting) {
      bytes += batch.audio.length + batch.log.length
      if (count > 0 && bytes > MAX_BYTES) break
      count++
    }
    return waiting.splice(0, count)
  }

  return {
    append(batch) {
      const outcome = Promise.withResolvers<BatchOutcome>()
      waiting.push({ batch, outcome })
      if (!isRunning) void run()
      return outcome.promise
    },
  }
}

/**
 * Stores batches of different sessions. A batch whose number is taken changes nothing. The leases
 * are read after the batches are stored: the next owner reads the batches after it has claimed the
 * session, so one that is stored under the newest lease reaches it. The numbers alone would not
 * do, because the owner that ends a session deletes its batches.
 */
async function storeBatches(db: Db, batches: readonly SessionBatch[]): Promise<BatchOutcome[]> {
  const rows = batches.map(({ jobId, seq, writer, audio, log }) => {
    return { job_id: jobId, seq, writer, audio: asBuffer(audio), log: asBuffer(log) }
  })
  const written = await db.sql
    .insertInto('live_batches')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('job_id')
    .execute()
  const ids = new Set(written.map(({ job_id }) => job_id))
  const newestEpochs = await readEpochs(db, batches)
  const outcomes: BatchOutcome[] = []
  for (const batch of batches) {
    const isLeased = batch.epoch >= (newestEpochs.get(batch.jobId) ?? 0)
    const isStored = ids.has(batch.jobId) || (await isOwn(db, batch))
    outcomes.push(isLeased && isStored ? 'stored' : 'taken')
  }
  return outcomes
}

/** Returns the newest epoch of each session whose job exists. */
async function readEpochs(db: Db, batches: readonly SessionBatch[]): Promise<Map<string, number>> {
  const ids = batches.map(({ jobId }) => jobId)
  const rows = await db.sql
    .selectFrom('jobs')
    .select(['id', 'lease_epoch'])
    .where(db.dialect.isIn(sql`id`, ids))
    .execute()
  return new Map(rows.map(({ id, lease_epoch }) => [id, lease_epoch]))
}

/** Returns whether a batch is stored because an earlier attempt succeeded after all. */
async function isOwn(db: Db, { jobId, seq, writer }: SessionBatch): Promise<boolean> {
  const row = await db.sql
    .selectFrom('live_batches')
    .select('writer')
    .where('job_id', '=', jobId)
    .where('seq', '=', seq)
    .executeTakeFirst()
  return row?.writer === writer
}

/** Yields the batches of a session from number `from` on, in order, some at a time. */
export async function* readBatches(
  db: Db,
  jobId: string,
  from: number,
): AsyncGenerator<{ seq: number; audio: Buffer; log: Buffer }[]> {
  for (let next = from; ; ) {
    const page = await db.sql
      .selectFrom('live_batches')
      .select(['seq', 'audio', 'log'])
      .where('job_id', '=', jobId)
      .where('seq', '>=', next)
      .orderBy('seq')
      .limit(BATCHES_PER_PAGE)
      .execute()
    if (page.length > 0) yield page
    if (page.length < BATCHES_PER_PAGE) return
    next = page.at(-1)!.seq + 1
  }
}

/** Deletes the batches of a session, in the transaction that ends or deletes its job. */
export async function deleteBatches(tx: Db, jobId: string): Promise<void> {
  if (!tx.isShared) return
  await tx.sql.deleteFrom('live_batches').where('job_id', '=', jobId).execute()
}

/** Deletes the batches that a process wrote after another one had ended its session. */
export async function deleteStaleBatches(db: Db): Promise<void> {
  await db.sql
    .deleteFrom('live_batches')
    .where(
      sql<boolean>`not exists (select 1 from jobs where jobs.id = live_batches.job_id
        and (jobs.status = 'queued' or jobs.status = 'processing'))`,
    )
    .execute()
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
