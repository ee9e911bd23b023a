import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStoreConfig } from '../../config/storage/object-store.ts'
import type { Db } from '../database/db.ts'
import { listNodes } from '../nodes/nodes.ts'

/**
 * Identifies where a process keeps objects: a bucket and prefix, or a data folder, by a file in it
 * that is made once.
 */
export async function findObjectStoreId(
  folder: string,
  objectStore: ObjectStoreConfig | undefined,
): Promise<string> {
  if (objectStore) {
    const { endpoint = '', bucket, prefix } = objectStore
    return `s3 ${endpoint} ${bucket}/${prefix}`
  }
  return `folder ${await readFolderId(join(folder, 'folder-id'))}`
}

/** Reads the file, which the first of several processes makes, with its content or not at all. */
async function readFolderId(file: string): Promise<string> {
  const id = randomUUID()
  const unfinished = `${file}.${id}`
  await writeFile(unfinished, id, { mode: 0o600 })
  try {
    await link(unfinished, file)
    return id
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return await readFile(file, 'utf8')
  } finally {
    await rm(unfinished)
  }
}

/**
 * Throws if another server on the database keeps its objects elsewhere: each would miss the
 * recordings and results of the other.
 */
export async function requireSameObjectStore(db: Db, place: string): Promise<void> {
  const otherNodes = (await listNodes(db)).filter(({ id }) => id !== db.owner)
  const other = otherNodes.find(({ objects }) => objects !== undefined && objects !== place)
  if (!other) return
  throw new Error(
    `Cannot use this database: the server on ${other.host} (process ${other.pid}) uses it too, and keeps its recordings elsewhere; set the same STENO_OBJECT_STORE for all servers, or the same STENO_DATA_DIR`,
  )
}
