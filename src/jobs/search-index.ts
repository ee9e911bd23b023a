import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import type { Log } from '../observability/log.ts'
import type { Db } from '../storage/database/db.ts'
import { findJob } from '../storage/jobs/jobs.ts'
import { readResult } from '../storage/jobs/results.ts'
import { findEditedSize, readTranscriptChanges } from '../storage/jobs/transcript-edits.ts'
import {
  findRemoved,
  findUnindexed,
  indexUtterances,
  removeUtterances,
  type UnindexedJob,
} from '../storage/search/utterance-index.ts'
import type { ResultBuilder } from '../text/result/result-builder.ts'

/** Options of the search index. */
export type SearchIndexOptions = {
  db: Db
  resultBuilder: Pick<ResultBuilder, 'searchable'>
  log: Log
  signal: AbortSignal
}

/** How often finished jobs are looked up, and the pause after a failure of the database. */
const INTERVAL_MS = 2000
const ERROR_PAUSE_MS = 30_000
/** The number of jobs that are looked up at once. */
const BATCH = 20
/**
 * Maximum deleted jobs that are erased before others are indexed, and the utterances that one
 * statement erases.
 */
const MAX_ERASED = 100
const DELETIONS_PER_STATEMENT = 20

/**
 * Indexes the transcripts of finished jobs and sessions until aborted: those that end from now on,
 * and those that ended before the index existed.
 */
export async function runSearchIndex(options: SearchIndexOptions): Promise<void> {
  const { log, signal } = options
  while (!signal.aborted) {
    let pauseMs = INTERVAL_MS
    try {
      await indexFinishedJobs(options)
    } catch (err) {
      if (signal.aborted) return
      log.warn({ err }, 'cannot index transcripts')
      pauseMs = ERROR_PAUSE_MS
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {})
  }
}

/** Indexes all finished jobs that are not indexed yet, and erases the words of deleted ones. */
export async function indexFinishedJobs(options: SearchIndexOptions): Promise<void> {
  await eraseDeletedJobs(options)
  for (;;) {
    const jobs = await findUnindexed(options.db, { limit: BATCH })
    for (const job of jobs) {
      if (options.signal.aborted) return
      await indexJob(options, job)
    }
    if (jobs.length < BATCH) return
  }
}

async function eraseDeletedJobs({ db, signal }: SearchIndexOptions): Promise<void> {
  for (const jobId of await findRemoved(db, { limit: MAX_ERASED })) {
    // Erases in small statements, so that other writers run in between.
    while (
      !signal.aborted &&
      (await removeUtterances(db, jobId, { limit: DELETIONS_PER_STATEMENT }))
    );
    if (signal.aborted) return
  }
}

async function indexJob(
  { db, resultBuilder, log, signal }: SearchIndexOptions,
  { id, account, kind }: UnindexedJob,
): Promise<void> {
  const job = await findJob(db, { id, account, kind })
  const result = job?.result && (await readResult(db, job.result))
  const { version } = await findEditedSize(db, id)
  const edits = await readTranscriptChanges(db, id, version)
  try {
    const indexInput = result && edits && !job.zeroRetention ? { result, edits } : undefined
    const utterances = indexInput
      ? await resultBuilder.searchable(indexInput, { account, signal })
      : []
    await indexUtterances(db, { id, account, version }, utterances)
  } catch (err) {
    // A result that cannot be read is marked as indexed without words, so that the others do not
    // wait for it.
    if (signal.aborted || !(err instanceof AppError) || err.code !== 'internal') throw err
    log.error({ err, jobId: id }, 'cannot index the transcript of a job')
    await indexUtterances(db, { id, account, version }, [])
  }
}
