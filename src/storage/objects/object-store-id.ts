import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStoreConfig } from '../../config/storage/object-store.ts'
import type { Db } from '../database/db.ts'
import { listNodes } from '../database/nodes/nodes.ts'

/**
 * Returns an id of the object store of a process: its bucket and prefix, or the content of a file
 * in the data folder that is created once.
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

/**
 * Reads the id file of a data folder. The first of several processes creates it, completely or not
 * at all.
 */
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
 * Throws if another node of the database has another object store: each would lack the recordings
 * and results of the other.
 */
export async function requireSameObjectStore(db: Db, storeId: string): Promise<void> {
  const otherNodes = (await listNodes(db)).filter(({ id }) => id !== db.nodeId)
  const other = otherNodes.find(({ objects }) => objects !== undefined && objects !== storeId)
  if (!other) return
  throw new Error(
    `Cannot use this database: the server on ${other.host} (process ${other.pid}) uses it too, and keeps its recordings elsewhere; set the same STENO_OBJECT_STORE for all servers, or the same STENO_DATA_DIR`,
  )
}
