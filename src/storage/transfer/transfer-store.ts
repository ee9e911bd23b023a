import { createHash, randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseConfig } from '../../config/storage/database.ts'
import type { ObjectStoreConfig } from '../../config/storage/object-store.ts'
import { databaseFile } from '../data-folder/data-folder.ts'
import { lockFolder } from '../database/sqlite/folder-lock.ts'
import { openSource, type SourceDatabase } from '../database/sqlite/source-database.ts'
import {
  closeTarget,
  openTarget,
  savePosition,
  type TargetDatabase,
  type TransferIdentity,
} from './target-database.ts'
import { copyObjects, countDifferentObjects, type ObjectTransfer } from './transfer-objects.ts'
import { copyRows, findDifferences, type RowTransfer } from './transfer-rows.ts'

/** The current step of a transfer. */
export type TransferStage =
  | 'copying rows'
  | 'copying objects'
  | 'comparing rows'
  | 'comparing objects'

/** The data folder to move, its targets, and how to report progress. */
export type TransferOptions = {
  folder: string
  database: DatabaseConfig | undefined
  objectStore: ObjectStoreConfig | undefined
  /** Whether to remove what an earlier move of this folder copied. */
  isRestarted: boolean
  signal: AbortSignal
  /** `done` and `total` count rows, or bytes of objects. */
  onProgress(stage: TransferStage, done: number, total: number): void
}

/** The end of the error message after a comparison that found differences. */
const DIFFERENCE_HINT =
  "differ: the folder or its copies changed during the move; run the command again with '--restart'"

/**
 * Copies the rows of a data folder into PostgreSQL, its objects into S3-compatible storage, or
 * both, then compares all of it. The folder, on which no server may run, stays as it was. An
 * interrupted run resumes where it stopped. No server uses the targets before the end.
 */
export async function transferStore(options: TransferOptions): Promise<void> {
  const { folder, database, objectStore, isRestarted } = options
  const lock = lockFolder(folder)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => lock.release())
  const identity = { source: await identityOf(folder), isRestarted }
  using source = openSource(databaseFile(folder))

  const bucket = objectStore && (await openBucket(objectStore, identity))
  if (bucket) opened.defer(() => bucket.close())
  if (!bucket?.isCompared) {
    const target = database && (await openTarget(database, identity))
    if (target) opened.defer(() => target.close())
    if (bucket) await transferObjects(options, bucket)
    if (target) await transferRows(options, { source, target })
  }
  // Each step can be repeated. If the process is killed between two of them, only the end of the
  // transfer is left to do.
  await bucket?.markCompared()
  if (database) await closeTarget(database)
  await bucket?.finish()
}

/**
 * Returns an id of a folder, from its host and path. Only the same folder may continue a transfer.
 */
async function identityOf(folder: string): Promise<string> {
  const place = `${hostname()}:${await realpath(folder)}`
  return createHash('sha256').update(place).digest('hex').slice(0, 32)
}

type TargetBucket = Awaited<ReturnType<typeof openBucket>>

/** Opens the bucket to which the objects move; throws if it is in use. */
async function openBucket(settings: ObjectStoreConfig, { source, isRestarted }: TransferIdentity) {
  const { openS3Objects } = await import('../objects/s3/s3-objects.ts')
  const { openTransferMark } = await import('../objects/s3/s3-transfer-mark.ts')
  const mark = await openTransferMark(settings)
  const folder = join(tmpdir(), `steno-move-${randomUUID()}`)
  const objects = await openS3Objects({ settings, folder, nodeId: 'move', isTransfer: true })
  const close = async () => {
    mark.close()
    await objects.close?.()
  }
  try {
    const storedMark = await mark.read()
    if (storedMark && storedMark.source !== source) {
      throw new Error('Cannot move into this bucket: another data folder is being moved into it')
    }
    let isCompared = storedMark?.isCompared ?? false
    if (!storedMark || isRestarted) {
      for await (const ids of objects.list()) {
        if (!storedMark)
          throw new Error('Cannot move into this bucket: it has objects (choose a prefix)')
        for (const id of ids) await objects.delete(id)
      }
      isCompared = false
      await mark.write({ source, isCompared })
    }
    const markCompared = () => mark.write({ source, isCompared: true })
    return { objects, isCompared, markCompared, finish: mark.remove, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function transferObjects(
  { folder, signal, onProgress }: TransferOptions,
  { objects }: TargetBucket,
): Promise<void> {
  const source = join(folder, 'objects')
  const transferOf = (stage: TransferStage): ObjectTransfer => {
    const onCount = (done: number, total: number) => onProgress(stage, done, total)
    return { source, target: objects, signal, onCount }
  }
  await copyObjects(transferOf('copying objects'))
  const differing = await countDifferentObjects(transferOf('comparing objects'))
  if (differing > 0) throw new Error(`${differing} objects ${DIFFERENCE_HINT}`)
}

type Databases = { source: SourceDatabase; target: TargetDatabase }

async function transferRows(
  { signal, onProgress }: TransferOptions,
  { source, target }: Databases,
): Promise<void> {
  const transferOf = (stage: TransferStage): RowTransfer => {
    const onCount = (done: number, total: number) => onProgress(stage, done, total)
    return { source, target: target.sql, signal, onCount }
  }
  await copyRows(transferOf('copying rows'), target.position, savePosition)
  const differing = await findDifferences(transferOf('comparing rows'))
  if (differing.length > 0)
    throw new Error(`The rows of ${differing.join(', ')} ${DIFFERENCE_HINT}`)
}
