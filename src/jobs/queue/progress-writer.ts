import type { Log } from '../../observability/log.ts'
import type { Db } from '../../storage/database/db.ts'
import { type JobProgress, recordProgress } from '../../storage/jobs/queue/job-state.ts'
import type { Lease } from '../../storage/jobs/queue/lease.ts'

/** Milliseconds between two writes, and before the first one. */
const WRITE_INTERVAL_MS = 500

/** Writes the progress of one attempt. */
export type ProgressWriter = {
  /** Writes this progress soon, unless newer progress replaces it. */
  record(progress: JobProgress): void
  /** Discards what is not written yet, and resolves when no write is running. */
  close(): Promise<void>
}

/**
 * Writes the newest progress of an attempt at intervals: a write costs a disk sync, and a short
 * recording passes through all stages within one interval.
 */
export function createProgressWriter({
  db,
  lease,
  log,
}: {
  db: Db
  lease: Lease
  log: Log
}): ProgressWriter {
  let newest: JobProgress | undefined
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  function write(): void {
    timer = undefined
    const progress = newest!
    // Progress is best effort: if the disk is full, a write that matters reports it.
    writing = writing
      .then(() => recordProgress(db, lease, progress))
      .catch((error) => log.debug({ err: error }, 'progress not written'))
  }

  return {
    record(progress) {
      newest = progress
      timer ??= setTimeout(write, WRITE_INTERVAL_MS)
    },
    async close() {
      clearTimeout(timer)
      await writing
    },
  }
}
