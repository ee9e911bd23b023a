import { setTimeout as delay } from 'node:timers/promises'
import { AppError, type ErrorCode } from '../errors.ts'
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
import type { SearchableUtterance } from '../text/search/searchable-utterances.ts'

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

async function indexJob(options: SearchIndexOptions, job: UnindexedJob): Promise<void> {
  const { db } = options
  const { id, account } = job
  const { version } = await findEditedSize(db, id)
  const utterances = await readUtterances(options, job, version)
  await indexUtterances(db, { id, account, version }, utterances)
}

/** The errors of a result that stays unreadable: damaged bytes, or text that is no result. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set(['storage_unreadable', 'internal'])

/**
 * Returns the utterances of a job with the corrections up to a version. A job whose result cannot
 * be read has none, so that the others do not wait for it.
 */
async function readUtterances(
  { db, resultBuilder, log, signal }: SearchIndexOptions,
  { id, account, kind }: UnindexedJob,
  version: number,
): Promise<SearchableUtterance[]> {
  const job = await findJob(db, { id, account, kind })
  const edits = await readTranscriptChanges(db, id, version)
  if (!job?.result || job.zeroRetention || !edits) return []
  try {
    const result = await readResult(db, job.result)
    if (result === undefined) return []
    return await resultBuilder.searchable({ result, edits }, { account, signal })
  } catch (err) {
    if (signal.aborted || !(err instanceof AppError) || !UNREADABLE.has(err.code)) throw err
    log.error({ err, jobId: id }, 'cannot index the transcript of a job')
    return []
  }
}
