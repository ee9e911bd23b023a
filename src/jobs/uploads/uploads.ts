import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import type { Resolve } from '../../net/dns/resolver.ts'
import type { DiskSpace } from '../../storage/data-folder/disk-space.ts'
import { type Db, inTransaction } from '../../storage/database/db.ts'
import { isMissingFile } from '../../storage/objects/disk/missing-file.ts'
import {
  deleteRecordingWithoutJobs,
  insertRecording,
  type StoredRecording,
} from '../../storage/recordings/recordings.ts'
import { downloadRecording } from '../fetching/fetch-recording.ts'
import { probeRecording, type ReceivedRecording } from '../fetching/probe-recording.ts'
import { fileNameInUrl } from '../fetching/source-url.ts'
import type { MediaDeps } from '../pipeline/pipeline-deps.ts'

/** A recording that a client sends. */
export type Upload = {
  filename: string | null
  body: AsyncIterable<Uint8Array>
  signal: AbortSignal
}

/** A recording that a client asks the server to fetch at once. */
export type RemoteUpload = { source: string; signal: AbortSignal }

/** The dependencies of storing an upload. */
export type UploadDeps = {
  db: Db
  space: DiskSpace
  media: MediaDeps
  /** Resolves the host name of a source. */
  resolve: Resolve
  config: Pick<Config, 'jobs' | 'media' | 'network' | 'storage'>
}

/**
 * Stores a recording that a client sends, if it contains audio. Rejects with `media_unsupported`
 * otherwise, and keeps nothing.
 */
export async function storeUpload(
  deps: UploadDeps,
  account: string,
  { filename, body, signal }: Upload,
): Promise<StoredRecording> {
  const id = randomUUID()
  const { maxFileBytes: maxBytes } = deps.config.storage
  await deps.space.checkAccount(account)
  using reservation = deps.space.openReservation(account, 'new')
  const limits = { maxBytes, signal, reserve: reservation.add, keepsLocalCopy: true }
  const { size } = await deps.db.objects.write(id, body, limits)
  return await registerUpload(deps, { id, account, filename, source: null, size }, signal)
}

/** Fetches a recording from the URL that a client gave, and stores it like an uploaded one. */
export async function storeRemoteUpload(
  deps: UploadDeps,
  account: string,
  { source, signal }: RemoteUpload,
): Promise<StoredRecording> {
  const id = randomUUID()
  await deps.space.checkAccount(account)
  using reservation = deps.space.openReservation(account, 'new')
  const remote = { id, account, source, signal, reservation }
  const { size } = await downloadRecording(deps, remote).catch((error) => {
    throw asUploadError(error)
  })
  return await registerUpload(
    deps,
    { id, account, filename: fileNameInUrl(source), source, size },
    signal,
  )
}

/** Creates a file from the stored bytes if they contain audio; deletes them otherwise. */
async function registerUpload(
  deps: UploadDeps,
  received: ReceivedRecording,
  signal: AbortSignal,
): Promise<StoredRecording> {
  const { db } = deps
  const { id, size } = received
  try {
    if (size === 0) throw new AppError('upload_invalid', 'the file is empty')
    const file = await probeRecording(deps, received, { signal, failsWhenBusy: true })
    await insertRecording(db, file)
    if (db.isShared) await requireObject(db, id)
    return file
  } catch (error) {
    if (!db.dialect.isOutcomeUnknown(error)) await db.deletions.delete([id])
    throw asUploadError(error)
  }
}

/**
 * Deletes a new row and throws if its object is gone. While this process was paused for so long
 * that other nodes considered it dead, they may have moved the object away, because it had no row.
 */
async function requireObject(db: Db, id: string): Promise<void> {
  const error = await db.objects.check(id).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isMissingFile(error ?? {})) return
  await inTransaction(db, (tx) => deleteRecordingWithoutJobs(tx, id))
  const detail = 'the upload was removed because this server had stopped responding'
  throw new AppError('object_store_unavailable', detail, { retryAfter: 1 })
}

/** Seconds until a client may retry: the machine killed decoders for lack of memory. */
const RETRY_AFTER = 10

/**
 * Maps an error to that of an upload. Unlike a job, an upload has a single response for bytes
 * without audio. A job repeats a probe that was killed; an upload asks its client to repeat it.
 */
function asUploadError(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  // Removes the start of the message, because the new error adds its own.
  const detail = error.message.replace(/^Cannot [^:]*: /, '')
  switch (error.code) {
    case 'media_undecodable':
      return new AppError('media_unsupported', detail, { cause: error })
    case 'media_without_audio':
      return new AppError('media_unsupported', 'it has no audio track', { cause: error })
    case 'engine_failed':
      return new AppError('engine_unavailable', detail, { retryAfter: RETRY_AFTER, cause: error })
    default:
      return error
  }
}
