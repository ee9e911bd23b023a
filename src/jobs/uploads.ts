import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Db } from '../storage/db.ts'
import { deleteUnusedFiles, insertFile, type Period, type StoredFile } from '../storage/files.ts'
import { roundTo } from '../transcript/rounding.ts'
import type { MediaTools } from './pipeline.ts'

/** A recording as a client sends it. */
export type Upload = {
  filename: string | null
  body: AsyncIterable<Uint8Array>
  signal: AbortSignal
}

/** What storing an upload needs. */
export type UploadTools = { db: Db; media: MediaTools; config: Pick<Config, 'media' | 'storage'> }

/**
 * Stores a recording that a client sends, once it is known to hold sound. What cannot be read is
 * answered `media_unsupported` and leaves nothing behind.
 */
export async function storeUpload(
  { db, media, config }: UploadTools,
  account: string,
  { filename, body, signal }: Upload,
): Promise<StoredFile> {
  const id = randomUUID()
  const { maxFileBytes: maxBytes } = config.storage
  const { size } = await db.objects.write(id, body, { maxBytes, signal })
  try {
    if (size === 0) throw new AppError('upload_invalid', 'the file is empty')
    const hint = { nameHint: filename ?? undefined, signal }
    const { extension, channels, ...info } = await media.probe(db.objects.path(id), hint)
    const createdAt = Date.now()
    const source = null
    const duration = roundTo(info.duration, 6)
    const file = { id, account, filename, source, extension, size, duration, channels, createdAt }
    await insertFile(db, file)
    return file
  } catch (error) {
    await db.objects.delete(id)
    throw asUploadError(error)
  }
}

/** A job tells its failures apart; an upload has one answer for bytes that hold no sound (contract D20). */
function asUploadError(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code !== 'media_undecodable' && error.code !== 'media_without_audio') return error
  return new AppError('media_unsupported', error.message, { cause: error })
}

/** How often uploads are looked for that no job came to use. */
const SWEEP_INTERVAL_MS = 60_000

/** What the removal of unused uploads needs. */
export type SweepOptions = {
  db: Db
  log: Log
  /** Seconds an upload is kept that no job uses; 0 = forever. */
  ttl: number
  signal: AbortSignal
}

/** Deletes the uploads that no job uses when their time is up, each looked at once, until aborted. */
export async function sweepUploads({ db, log, ttl, signal }: SweepOptions): Promise<void> {
  if (ttl === 0) return
  let from = 0
  while (!signal.aborted) {
    const to = Date.now() - ttl * 1000
    try {
      const removed = await removeUnusedUploads(db, { from, to })
      if (removed > 0) log.info({ removed }, 'deleted uploads that no job used')
      from = to
    } catch (error) {
      log.error({ err: error }, 'cannot delete unused uploads')
    }
    const interval = Math.min(SWEEP_INTERVAL_MS, ttl * 1000)
    await delay(interval, undefined, { signal }).catch(() => {})
  }
}

async function removeUnusedUploads(db: Db, period: Period): Promise<number> {
  const ids = await deleteUnusedFiles(db, period)
  for (const id of ids) await db.objects.delete(id)
  return ids.length
}
