import { setTimeout as delay } from 'node:timers/promises'
import { DAY_MS, wallNow } from '../clock.ts'
import type { Log } from '../observability/log.ts'
import { deleteAudit } from '../storage/accounts/audit-log.ts'
import type { Db } from '../storage/database/db.ts'
import { deleteExpiredJobs } from '../storage/jobs/deletion/retention.ts'
import {
  deleteDeliveredJobs,
  deleteEndedRecordings,
} from '../storage/jobs/deletion/zero-retention.ts'
import { deleteEvents } from '../storage/jobs/events.ts'
import { deleteExpiredKeys } from '../storage/jobs/job-writer.ts'
import { findActivePreRecordedJobs } from '../storage/jobs/queue/queue-maintenance.ts'
import { deleteExpiredTokens } from '../storage/live/session-tokens.ts'
import { restoreOrphanObjects } from '../storage/objects/orphans/orphan-objects.ts'
import type { Orphans } from '../storage/objects/orphans/orphans.ts'
import { deleteUnusedRecordings } from '../storage/recordings/recordings.ts'
import { removeStaleCheckpoints } from './pipeline/checkpoints/checkpoints.ts'

/** How often maintenance looks for expired data. */
const INTERVAL_MS = 60_000
/** How often orphans are moved back or deleted: checking them one by one takes long. */
const ORPHANS_INTERVAL_MS = 3_600_000

/**
 * Maximum jobs and maximum uploads that one pass deletes: more than end in a minute, and few enough
 * that an operator who set a clock or a limit wrong has time to notice.
 */
const MAX_PER_PASS = 2000

/** Options of the maintenance: the kinds of data that expire, and how long each is kept. */
export type MaintenanceOptions = {
  db: Db
  log: Log
  /** The folder of the checkpoints of jobs; without it, none are removed. */
  workFolder?: string | undefined
  /** Returns the jobs whose checkpoints this process is using. */
  findRunning?: () => readonly string[]
  /** Objects that no row refers to; without it, none are deleted. */
  orphans?: Orphans | undefined
  /** Days an orphan is kept. */
  orphanDays?: number
  /** Whether the system clock can be trusted right now. */
  mayDelete?: () => boolean
  /** Seconds an upload is kept while no job uses it; 0 = forever. */
  uploadTtl: number
  /** Days a finished job is kept, with its recording; 0 = forever. */
  retentionDays: number
  /** Seconds that an unread zero-retention result is kept. */
  zeroRetentionWait?: number
  /** Days an entry of the audit log is kept; 0 = forever. */
  auditDays?: number
  /** Called for each deleted job. */
  onDeleted?: ((jobId: string) => void) | undefined
  signal: AbortSignal
}

/**
 * Deletes expired data until aborted: ended jobs, uploads that no job used, idempotency keys that
 * have expired, tokens of ended sessions, events older than a day, old entries of the audit log;
 * and the checkpoints of jobs that ended elsewhere.
 * Rows are deleted first, each with everything that refers to it. If a crash prevents the deletion
 * of objects, the next start deletes them.
 */
export async function runMaintenance(options: MaintenanceOptions): Promise<void> {
  const { log, signal, uploadTtl, zeroRetentionWait } = options
  const retentionsMs = [uploadTtl, zeroRetentionWait].map((seconds) => (seconds || Infinity) * 1000)
  const intervalMs = Math.min(INTERVAL_MS, ...retentionsMs)
  const state: MaintenanceState = { uploadsFrom: 0, orphansAt: 0 }
  while (!signal.aborted) {
    await deleteExpired(options, state).catch((error) => {
      log.error({ err: error }, 'cannot delete expired data')
    })
    await removeWork(options).catch((error) => {
      log.error({ err: error }, 'cannot remove checkpoints')
    })
    await delay(intervalMs, undefined, { signal }).catch(() => {})
  }
}

/**
 * Removes the checkpoints of jobs that this process began and another one ended: one that had taken
 * over the lease, or was asked to cancel the job.
 */
async function removeWork({ db, workFolder, findRunning }: MaintenanceOptions): Promise<void> {
  if (workFolder === undefined) return
  const running = findRunning?.() ?? []
  await removeStaleCheckpoints(workFolder, () => findActivePreRecordedJobs(db), { running })
}

/**
 * Uploads stored before `uploadsFrom` are checked already: they were deleted, or are deleted with
 * the last job that uses them. `orphansAt` is when orphans were checked last. Both are milliseconds
 * since 1970.
 */
type MaintenanceState = { uploadsFrom: number; orphansAt: number }

async function deleteExpired(options: MaintenanceOptions, state: MaintenanceState): Promise<void> {
  const mayDelete = options.mayDelete?.() !== false
  await deleteZeroRetention(options, { mayDelete })
  if (!mayDelete) return
  await deleteOldJobs(options)
  await deleteOldUploads(options, state)
  await deleteExpiredKeys(options.db, { now: wallNow() })
  await deleteExpiredTokens(options.db, { now: wallNow() })
  await deleteEvents(options.db, { before: wallNow() - DAY_MS })
  const { auditDays } = options
  if (auditDays) await deleteAudit(options.db, { before: wallNow() - auditDays * DAY_MS })
  await deleteOldOrphans(options, state)
}

/**
 * Moves back the orphans that got a row after all, because a node stood still between writing the
 * object and the row; then deletes old ones.
 */
async function deleteOldOrphans(
  { db, log, orphans, orphanDays = 0, signal }: MaintenanceOptions,
  state: MaintenanceState,
): Promise<void> {
  const now = wallNow()
  if (!orphans || Math.abs(now - state.orphansAt) < ORPHANS_INTERVAL_MS) return
  state.orphansAt = now
  const restored = await restoreOrphanObjects(db, orphans)
  if (restored > 0) log.info({ restored }, 'restored orphaned objects that are referenced again')
  const removed = await orphans.deleteBefore(now - orphanDays * DAY_MS, { signal })
  if (removed > 0) log.info({ removed }, 'deleted expired orphaned objects')
}

async function deleteOldJobs(options: MaintenanceOptions): Promise<void> {
  const { db, log, onDeleted, retentionDays, signal } = options
  if (retentionDays === 0) return
  const endedBefore = wallNow() - retentionDays * DAY_MS
  for (let removed = 0; removed < MAX_PER_PASS && !signal.aborted; ) {
    const { ids, objects } = await deleteExpiredJobs(db, { endedBefore })
    if (ids.length === 0) return
    removed += ids.length
    for (const id of ids) onDeleted?.(id)
    await db.deletions.delete(objects, { signal })
    log.info({ removed: ids.length }, 'deleted jobs past their retention')
  }
}

/**
 * Deletes zero-retention jobs: those whose result was read even if the clock is not trusted, unread
 * ones only if it is.
 */
async function deleteZeroRetention(
  { db, log, onDeleted, zeroRetentionWait = Number.POSITIVE_INFINITY }: MaintenanceOptions,
  { mayDelete }: { mayDelete: boolean },
): Promise<void> {
  const recordings = await deleteEndedRecordings(db)
  const waitedSince = mayDelete ? wallNow() - zeroRetentionWait * 1000 : 0
  const ids = await deleteDeliveredJobs(db, { waitedSince })
  for (const id of ids) onDeleted?.(id)
  if (ids.length + recordings === 0) return
  log.info({ removed: ids.length, recordings }, 'deleted jobs under zero retention')
}

async function deleteOldUploads(
  options: MaintenanceOptions,
  state: MaintenanceState,
): Promise<void> {
  const { db, log, uploadTtl, signal } = options
  if (uploadTtl === 0) return
  const end = wallNow() - uploadTtl * 1000
  for (let removed = 0; removed < MAX_PER_PASS && !signal.aborted; ) {
    if (state.uploadsFrom >= end) return
    const { ids, to } = await deleteUnusedRecordings(db, { from: state.uploadsFrom, to: end })
    removed += ids.length
    await db.deletions.delete(ids, { signal })
    if (ids.length > 0) log.info({ removed: ids.length }, 'deleted uploads that no job used')
    state.uploadsFrom = to
  }
}
