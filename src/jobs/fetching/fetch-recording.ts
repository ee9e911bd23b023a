import type { Config } from '../../config/config.ts'
import type { DiskReservation } from '../../storage/data-folder/disk-space.ts'
import type { Db } from '../../storage/database/db.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import { findKnownObjects } from '../../storage/objects/orphans/known-objects.ts'
import { findAwaitedObjects } from '../../storage/objects/orphans/orphan-objects.ts'
import { saveFetchedRecording } from '../../storage/recordings/fetched-recording.ts'
import { findRecording } from '../../storage/recordings/recordings.ts'
import type { PipelineDeps } from '../pipeline/pipeline-deps.ts'
import { LeaseLostError } from '../queue/lease-heartbeat.ts'
import { fetchUrl } from './fetch-url.ts'
import { probeRecording } from './probe-recording.ts'

type RecordingDeps = Pick<PipelineDeps, 'db' | 'media' | 'resolve' | 'space'> & {
  config: Pick<Config, 'jobs' | 'media' | 'network' | 'storage'>
}

/** Ensures that the recording of a job is stored; a remote one is fetched only once. */
export async function ensureRecording(
  deps: RecordingDeps,
  job: ClaimedJob,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const { id, source } = job.file
  if (source === null) return
  if (await findRecording(deps.db, { id, account: job.account })) return
  // Reserves the bytes until the row of the recording counts them.
  using reservation = deps.space.openReservation(job.account, 'accepted')
  const { epoch } = job.lease
  const fetched = { id, epoch, account: job.account, source, signal, reservation }
  const { size } = await downloadRecording(deps, fetched)
  try {
    await saveRecording(deps, job, { size, signal })
  } catch (error) {
    // A newer attempt that took over the job stores the recording under the same id. If the outcome
    // of the statement is unknown, the row of the file may exist.
    const mayBeNeeded =
      error instanceof LeaseLostError
        ? await isNeeded(deps.db, id)
        : deps.db.dialect.isOutcomeUnknown(error)
    if (!mayBeNeeded) await deps.db.objects.delete(id, { epoch })
    throw error
  }
}

/** Returns whether a recording is stored for a job, or a job that has not ended is to store it. */
async function isNeeded(db: Db, id: string): Promise<boolean> {
  // In this order: a job that ends in between has stored its recording by then.
  const awaited = await findAwaitedObjects(db, [id])
  return awaited.has(id) || (await findKnownObjects(db, [id])).has(id)
}

/** A remote source, and the account and object id that it is fetched for. */
export type SourceToFetch = {
  id: string
  /** The epoch of the job's lease; absent for uploads. */
  epoch?: number
  account: string
  source: string
  signal: AbortSignal
  reservation: DiskReservation
}

/** Fetches `source` into the object `id`, within the configured limits. */
export function downloadRecording(
  { db, config, resolve }: Pick<RecordingDeps, 'db' | 'config' | 'resolve'>,
  { id, epoch, account, source, signal, reservation }: SourceToFetch,
): Promise<{ size: number }> {
  const { fetchTimeout: timeout } = config.jobs
  const { allowPrivateNetwork } = config.network
  const { maxFileBytes: maxBytes } = config.storage
  const reserve = reservation.add
  const store = (body: AsyncIterable<Uint8Array>, signal: AbortSignal) =>
    db.objects.write(id, body, { maxBytes, signal, reserve, epoch, keepsLocalCopy: true })
  const limits = { timeout, allowPrivateNetwork, maxBytes, signal }
  return fetchUrl(source, store, { ...limits, resolve, account })
}

async function saveRecording(
  deps: RecordingDeps,
  { account, file, lease }: ClaimedJob,
  { size, signal }: { size: number; signal: AbortSignal },
): Promise<void> {
  const { id, filename, source } = file
  const received = { id, account, filename, source, size }
  const stored = await probeRecording(deps, received, { signal })
  if (!(await saveFetchedRecording(deps.db, lease, stored))) throw new LeaseLostError()
}
