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

/** The sources of the index, and what stops it. */
export type SearchIndexOptions = {
  db: Db
  resultBuilder: Pick<ResultBuilder, 'searchable'>
  log: Log
  signal: AbortSignal
}

/** How often finished jobs are looked for, and after a failure of the database. */
const INTERVAL_MS = 2000
const ERROR_PAUSE_MS = 30_000
/** Jobs that are looked up at once. */
const BATCH = 20
/** Deleted jobs that are erased before others are indexed, and utterances of one transaction. */
const MAX_ERASED = 100
const DELETIONS_PER_STATEMENT = 20

/**
 * Indexes what was said in finished jobs and sessions until aborted, so that searches find it:
 * those that end from now on, and those that ended before the index existed.
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

/** Indexes all jobs that wait for it, and erases the words of deleted ones. */
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
    // Other writers get a turn in between.
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
    const searched = result && edits && !job.zeroRetention ? { result, edits } : undefined
    const utterances = searched ? await resultBuilder.searchable(searched, { account, signal }) : []
    await indexUtterances(db, { id, account, version }, utterances)
  } catch (err) {
    // A result that cannot be read is not indexed, so that the others do not wait for it.
    if (signal.aborted || !(err instanceof AppError) || err.code !== 'internal') throw err
    log.error({ err, jobId: id }, 'cannot index the transcript of a job')
    await indexUtterances(db, { id, account, version }, [])
  }
}
